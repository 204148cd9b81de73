"""A proxy between two servers that cuts their connection at any byte."""

import contextlib
import random
import socket
import threading


class CuttingProxy:
    """A context manager. Each connection is cut after a number of bytes by chance, at most `most`; None: never."""

    def __init__(self, target, seed=0, most=None):
        self.target = target
        self.most = most
        self.dice = random.Random(seed)
        self.cuts = 0
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.pairs = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.cut()

    def cut(self):
        """Ends the connections of this moment."""
        for pair in self.pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self.pairs = []

    def _accept(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            try:
                other = socket.create_connection(("127.0.0.1", self.target), 10)
            except OSError:
                one.close()
                continue
            # Small buffers, so that what is cut was on its way.
            for end in (one, other):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.pairs.append((one, other))
            for source, sink in ((one, other), (other, one)):
                left = None if self.most is None else int(self.most * self.dice.random() ** 3) + 1
                threading.Thread(target=self._carry, args=(source, sink, left), daemon=True).start()

    def _carry(self, source, sink, left):
        with contextlib.suppress(OSError):
            while True:
                some = source.recv(65536)
                if not some:
                    break
                if left is not None and len(some) >= left:
                    sink.sendall(some[:left])
                    self.cuts += 1
                    break
                sink.sendall(some)
                if left is not None:
                    left -= len(some)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
                end.close()
