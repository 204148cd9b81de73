"""FastAPI: at most 100 requests a minute from each address. tallyd counts them."""
import logging
import math
import os

from fastapi import FastAPI, Response
from redis.asyncio import Redis, RedisError

LIMIT = os.environ.get("LIMIT", "100")
FAIL_OPEN = os.environ.get("FAIL_OPEN") != "false"  # Without a decision: true lets it pass, false answers 503.
# A decision is given up when tallyd takes longer than 50 ms, and is not tried again.
tallyd = Redis.from_url(os.environ.get("TALLYD", "redis://127.0.0.1:6379"),
                        socket_timeout=0.05, socket_connect_timeout=0.05, retry=None)
app = FastAPI()

@app.middleware("http")
async def rate_limit(request, call_next):
    take = ("LIMIT.TAKE", f"web:{request.client.host}", "SLIDING", LIMIT, "1m")
    try:
        allowed, limit, remaining, retry_after_ms, reset_after_ms, _ = await tallyd.execute_command(*take)
    except RedisError as error:
        logging.error("no decision: %s", error)
        return await call_next(request) if FAIL_OPEN else Response(status_code=503)
    response = await call_next(request) if allowed else Response(status_code=429)
    response.headers["RateLimit-Policy"] = f'"web";q={limit};w=60'
    response.headers["RateLimit"] = f'"web";r={remaining};t={math.ceil(reset_after_ms / 1000)}'
    if not allowed and retry_after_ms >= 0:  # -1: no wait would help
        response.headers["Retry-After"] = str(math.ceil(retry_after_ms / 1000))
    return response
