"""A proxy between two servers that cuts what goes through it: after a number of bytes, or at once."""

import contextlib
import selectors
import socket
import threading


class CuttingProxy:
    """A context manager. Listens at `port`, and carries each connection on to the target."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.cuts = 0
        self.carried = 0  # bytes that came from the target
        self._left = None  # after so many bytes from the target the links are cut
        self._others = {}  # each end of a link, and the other one
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended = True
        self._thread.join()
        for end in [*self._others, self.listener]:
            end.close()

    def cut_after(self, count):
        """The next `count` bytes from the target still pass."""
        self._left = count

    @property
    def waits_to_cut(self):
        return self._left is not None

    def _run(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.listener, selectors.EVENT_READ)
            while not self._ended:
                for key, _ in selector.select(0.05):
                    if key.fileobj is self.listener:
                        self._accept(selector)
                    elif key.fileobj in self._others:
                        self._carry(selector, key.fileobj, key.data)

    def _accept(self, selector):
        near, _ = self.listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self.target_port), 10)
        except OSError:
            near.close()
            return
        for end, other, is_target in ((near, far, False), (far, near, True)):
            end.settimeout(10)
            self._others[end] = other
            selector.register(end, selectors.EVENT_READ, is_target)

    def _carry(self, selector, end, is_target):
        try:
            data = end.recv(65536)
            cuts = is_target and self._left is not None and len(data) >= self._left
            if cuts:
                data = data[:self._left]
            self._others[end].sendall(data)
        except OSError:
            data, cuts = b"", False
        if is_target:
            self.carried += len(data)
            if self._left is not None:
                self._left -= len(data)
        if cuts:
            self.cuts += 1
            self._left = None
        if cuts or not data:
            self._drop(selector, end)

    def _drop(self, selector, end):
        for one in (end, self._others.pop(end)):
            self._others.pop(one, None)
            with contextlib.suppress(KeyError, ValueError):
                selector.unregister(one)
            one.close()
