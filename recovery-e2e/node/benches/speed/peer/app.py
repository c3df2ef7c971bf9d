"""A plain event stream of the kind that one writes first: a queue for each subscriber.

POST /publish?count=N hands N events to every subscriber at once, which is the cheapest way there
is: the node, beside which this runs, gets each of its events by a request of its own.
"""

import asyncio
import json

from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

subscribers: set[asyncio.Queue[dict[str, str]]] = set()
published = 0


async def events(_request):
    queue: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    subscribers.add(queue)

    async def stream():
        try:
            yield {"data": json.dumps({"type": "replay_complete"})}
            while True:
                yield await queue.get()
        finally:
            subscribers.discard(queue)

    return EventSourceResponse(stream())


async def publish(request):
    global published
    for _ in range(int(request.query_params["count"])):
        published += 1
        event = {
            "type": "tool_result",
            "call_id": "c",
            "name": "n",
            "output": request.query_params["output"],
            "is_error": False,
            "row_id": f"0123456789abcdef.{published}",
            "ws_id": "0123456789abcdef",
        }
        frame = {"id": f"0123456789abcdef-{published}", "data": json.dumps(event)}
        for queue in subscribers:
            queue.put_nowait(frame)
    return JSONResponse({"published": published})


app = Starlette(routes=[Route("/events", events), Route("/publish", publish, methods=["POST"])])
