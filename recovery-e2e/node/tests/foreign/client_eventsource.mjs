// The npm package `eventsource`: the browser's interface, with redials of its own.
import { EventSource } from 'eventsource';

const { EVENTS_URL, NODE_TOKEN } = process.env;
const headers = { Authorization: `Bearer ${NODE_TOKEN}` };
const source = new EventSource(EVENTS_URL, {
  fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }),
});
source.onmessage = ({ data, lastEventId }) => console.log(JSON.stringify({ id: lastEventId, data: JSON.parse(data) }));
