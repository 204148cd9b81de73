"""Clients that take much of a server at once, each kind in a process of its own: what pause.py has
others wait beside."""

import contextlib
import multiprocessing
import os
import resource
import selectors
import socket

import harness

VALUE = 64 * 1024
READERS = 200
LARGE = 200 << 20
SUBSCRIBERS = 20
MESSAGE = b"m" * 10_000
DESCRIPTORS = 100
MIB = 1 << 20


def prepare(client):
    client.call("SET", "value", "v" * VALUE)
    client.load((["SET", f"key:{i}", i] for i in range(20_000)))


def prepare_large(client):
    client.call("SETRANGE", "large", LARGE - 1, "x")


def connect(port, buffer=None):
    client = socket.socket()
    if buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.connect(("127.0.0.1", port))
    return client


def ask_for_values(port):
    """200 clients that each ask for 64 KB, again as soon as they have them."""
    request = harness.encode(["GET", "value"])
    whole = len(f"${VALUE}\r\n") + VALUE + 2
    with selectors.DefaultSelector() as selector:
        for _ in range(READERS):
            client = connect(port)
            selector.register(client, selectors.EVENT_READ, [whole])
            client.sendall(request)
        while True:
            for key, _ in selector.select():
                left = key.data
                left[0] -= len(key.fileobj.recv(left[0]))
                if left[0] == 0:
                    left[0] = whole
                    key.fileobj.sendall(request)


def read_slowly(port):
    """One client that reads 200 MB at 50 MB a second, again and again."""
    client = connect(port)
    pause = multiprocessing.Event()
    while True:
        client.sendall(harness.encode(["GET", "large"]))
        left = LARGE + len(f"${LARGE}\r\n") + 2
        while left > 0:
            left -= len(client.recv(min(left, MIB // 2)))
            pause.wait(0.01)


def subscribe_and_never_read(port):
    """20 subscribers that do not read, and one that publishes 10 KB to them as fast as it can.
    Who is closed at the limit comes again."""
    publisher = harness.Client(port)
    subscribers = []
    while True:
        while len(subscribers) < SUBSCRIBERS:
            subscribers.append(connect(port, 4096))
            subscribers[-1].sendall(harness.encode(["SUBSCRIBE", "channel"]))
        for _ in range(100):
            publisher.call("PUBLISH", "channel", MESSAGE)
        if publisher.call("PUBLISH", "channel", MESSAGE) < SUBSCRIBERS:
            for subscriber in subscribers:
                subscriber.close()
            subscribers.clear()


def monitor_a_load(port):
    """Two clients that read MONITOR, beside pipelines of short commands."""
    monitors = [connect(port), connect(port)]
    loader = connect(port)
    requests = b"".join(harness.encode(["SET", f"key:{i}", i]) for i in range(100))
    with selectors.DefaultSelector() as selector:
        for monitor in monitors:
            monitor.sendall(harness.encode(["MONITOR"]))
            selector.register(monitor, selectors.EVENT_READ, 0)
        selector.register(loader, selectors.EVENT_READ, len("+OK\r\n") * 100)
        loader.sendall(requests)
        left = len("+OK\r\n") * 100
        while True:
            for key, _ in selector.select():
                taken = len(key.fileobj.recv(MIB))
                if key.fileobj is loader:
                    left -= taken
                    if left == 0:
                        left = len("+OK\r\n") * 100
                        loader.sendall(requests)


def send_slow_commands(port):
    """One client with pipelines of commands that take a millisecond or so each."""
    client = harness.Client(port)
    request = harness.encode(["KEYS", "none*"]) * 100
    while True:
        client.socket.sendall(request)
        for _ in range(100):
            client.read()


def connect_without_descriptors(port):
    """As many clients as the server has descriptors for, and more that keep coming: each is given up
    after a moment, and a tenth of those inside leave and come again."""
    inside = []
    while True:
        client = socket.socket()
        client.settimeout(0.02)
        try:
            client.connect(("127.0.0.1", port))
            client.sendall(harness.encode(["PING"]))
            served = client.recv(100).startswith(b"+PONG")
        except OSError:
            served = False
        if served:
            inside.append(client)
            continue
        client.close()
        leaving = len(inside) // 10
        for one in inside[:leaving]:
            one.close()
        del inside[:leaving]


def prepare_few_descriptors(client):
    prepare(client)
    pid = int(client.info("process_id"))
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))


# Name, what is to be there, the load.
LOADS = [
    ("200 clients ask for 64 KB each", prepare, ask_for_values),
    ("one reads 200 MB slowly", prepare_large, read_slowly),
    ("20 subscribers do not read", prepare, subscribe_and_never_read),
    ("two monitors read along", prepare, monitor_a_load),
    ("one sends slow commands", prepare, send_slow_commands),
    ("no descriptor is left, new ones come", prepare_few_descriptors, connect_without_descriptors),
]


def run_nicely(load, port):
    os.nice(10)
    with contextlib.suppress(OSError):  # the server ends first
        load(port)


@contextlib.contextmanager
def loading(load, port):
    """The load in a process, which leaves the CPU to the process that measures."""
    process = multiprocessing.Process(target=run_nicely, args=(load, port), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()
