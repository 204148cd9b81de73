"""One page behind the example's limit."""

from fastapi_app import app


@app.get("/")
async def hello():
    return "hello"
