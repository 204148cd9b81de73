"""Django: at most 100 requests a minute from each address. First in MIDDLEWARE: "django_middleware.rate_limit"."""
import logging
import math
import os

from django.http import HttpResponse
from redis import Redis, RedisError

LIMIT = os.environ.get("LIMIT", "100")
FAIL_OPEN = os.environ.get("FAIL_OPEN") != "false"  # Without a decision: true lets it pass, false answers 503.
# A decision is given up when tallyd takes longer than 50 ms, and is not tried again.
tallyd = Redis.from_url(os.environ.get("TALLYD", "redis://127.0.0.1:6379"),
                        socket_timeout=0.05, socket_connect_timeout=0.05, retry=None)

def rate_limit(get_response):
    def middleware(request):
        try:
            allowed, limit, remaining, retry_after_ms, reset_after_ms, _ = tallyd.execute_command(
                "LIMIT.TAKE", f"web:{request.META['REMOTE_ADDR']}", "SLIDING", LIMIT, "1m")
        except RedisError as error:
            logging.error("no decision: %s", error)
            return get_response(request) if FAIL_OPEN else HttpResponse(status=503)
        response = get_response(request) if allowed else HttpResponse("too many requests", status=429)
        response["RateLimit-Policy"] = f'"web";q={limit};w=60'
        response["RateLimit"] = f'"web";r={remaining};t={math.ceil(reset_after_ms / 1000)}'
        if not allowed and retry_after_ms >= 0:  # -1: no wait would help
            response["Retry-After"] = math.ceil(retry_after_ms / 1000)
        return response
    return middleware
