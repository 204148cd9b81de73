"""channels_redis, both layers of Django Channels: BZPOPMIN and scripts, or pub/sub. Usage: channels_layer.py port"""

import asyncio
import sys

from channels_redis.core import RedisChannelLayer
from channels_redis.pubsub import RedisPubSubChannelLayer

from worker import show

HOSTS = [{"address": f"redis://127.0.0.1:{sys.argv[1]}"}]
WAIT_SECONDS = 30


async def receive(layer, channel):
    return await asyncio.wait_for(layer.receive(channel), WAIT_SECONDS)


async def nothing(layer, channel):
    try:
        return await asyncio.wait_for(layer.receive(channel), 0.3)
    except asyncio.TimeoutError:
        return "nothing"


async def steps(name, layer):
    waiting = asyncio.create_task(receive(layer, "direct"))
    await asyncio.sleep(0.2)
    await layer.send("direct", {"type": "hello", "bytes": b"\x00\r\n\xff"})
    show(name, "direct", await waiting)
    channels = [await layer.new_channel() for _ in range(3)]
    for channel in channels:
        await layer.group_add("room", channel)
    await layer.group_send("room", {"type": "said", "text": "to all"})
    show(name, "group", [await receive(layer, channel) for channel in channels])
    await layer.group_discard("room", channels[1])
    await layer.group_send("room", {"type": "said", "text": "to two"})
    show(name, "left", [await receive(layer, channels[0]), await nothing(layer, channels[1]),
                        await receive(layer, channels[2])])
    waiting = [asyncio.create_task(receive(layer, channel)) for channel in channels]
    await asyncio.sleep(0.2)
    for number, channel in enumerate(channels):
        await layer.send(channel, {"type": "number", "number": number})
    show(name, "each its own", await asyncio.gather(*waiting))
    for number in range(10):
        await layer.send("direct", {"type": "number", "number": number})
    show(name, "in order", [(await receive(layer, "direct"))["number"] for _ in range(10)])


async def core_only(layer):
    try:
        for number in range(20):
            await layer.send("full", {"type": "number", "number": number})
    except Exception as error:
        show("full", type(error).__name__, number)
    show("from the front", (await receive(layer, "full"))["number"])


async def main():
    layer = RedisChannelLayer(hosts=HOSTS, capacity=12)
    await steps("core", layer)
    await core_only(layer)
    await layer.flush()
    await layer.close_pools()
    layer = RedisPubSubChannelLayer(hosts=HOSTS)
    await steps("pubsub", layer)
    await layer.flush()


asyncio.run(main())
