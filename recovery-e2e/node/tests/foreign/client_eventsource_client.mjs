// The npm package `eventsource-client`: callbacks, with redials of its own.
import { createEventSource } from 'eventsource-client';

const { EVENTS_URL, NODE_TOKEN } = process.env;
createEventSource({
  url: EVENTS_URL,
  headers: { Authorization: `Bearer ${NODE_TOKEN}` },
  onMessage: ({ data, id }) => console.log(JSON.stringify({ id, data: JSON.parse(data) })),
});
