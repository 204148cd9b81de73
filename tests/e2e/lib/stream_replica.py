"""A replica of tallyd that only receives: it speaks the protocol by itself, and checks each length and checksum. What it
has received can be made the data of a server, so that it can be compared with that of the primary."""

import select
import socket
import struct
import time

from lib.resp import encode

FRAME_HEADER = 49
LOG_HEADER = 59
CRC_TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    CRC_TABLE.append(byte)


def crc32c(crc, data):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class Refused(Exception):
    """The primary has answered PSYNC with an error."""


class StreamReplica:
    """`base` is the data of the last full sync, `effects` what came after it, `offset` where these end. `databases` has,
    for each frame, where it began and in which database."""

    def __init__(self, port, listening_port=7777):
        self.port = port
        self.listening_port = listening_port
        self.id = "?"
        self.offset = -1
        self.base = b""
        self.base_offset = 0
        self.effects = b""
        self.frames = []
        self.first_database = 0
        self.full_syncs = 0
        self.socket = None

    def connect(self, capa=("eof", "psync2", "tallyd"), password=None, extra=()):
        """Shakes hands and sends PSYNC. Returns the first word of the answer; with FULLRESYNC the base has come too."""
        self.close()
        self.buffer = b""
        self.crc = 0
        self.socket = socket.create_connection(("127.0.0.1", self.port), 30)
        if password is not None:
            self.ask("AUTH", password)
        assert self.ask("PING") == b"+PONG"
        assert self.ask("REPLCONF", "listening-port", self.listening_port) == b"+OK"
        words = [word for one in capa for word in ("capa", one)]
        assert self.ask("REPLCONF", *words) == b"+OK"
        next_byte = self.offset + 1 if self.id != "?" else -1
        self.send("PSYNC", self.id, next_byte, *extra)
        answer = self.line()
        while answer == b"":
            answer = self.line()
        if answer.startswith(b"-"):
            raise Refused(answer.decode())
        words = answer.decode().split()
        if words[0] == "+CONTINUE":
            self.id = words[1]
        else:
            assert words[0] == "+FULLRESYNC", answer
            self.take_base(words[1], int(words[2]))
        return words[0][1:]

    def take_base(self, replid, offset):
        length = self.line()
        assert length[:1] == b"$", length
        length = int(length[1:])
        while len(self.buffer) < length:
            self.receive()
        self.base, self.buffer = self.buffer[:length], self.buffer[length:]
        assert self.base.startswith(b"TALLYBAS")
        self.id, self.offset, self.base_offset = replid, offset, offset
        self.effects, self.frames = b"", []
        self.full_syncs += 1

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def send(self, *words):
        self.socket.sendall(encode(words))

    def ask(self, *words):
        self.send(*words)
        return self.line()

    def receive(self, seconds=30):
        """Waits for bytes. False if none have come."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        more = self.socket.recv(1 << 20)
        if more == b"":
            raise ConnectionError("the primary has closed the link")
        self.buffer += more
        return True

    def line(self):
        while b"\n" not in self.buffer:
            if not self.receive():
                raise TimeoutError("no answer")
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.rstrip(b"\r")

    def acknowledge(self, offset=None):
        self.send("REPLCONF", "ACK", self.offset if offset is None else offset)

    def take_frames(self):
        """Takes the whole frames that have come, and returns how many of them ask for an acknowledgement."""
        asked = 0
        while len(self.buffer) >= FRAME_HEADER:
            header = self.buffer[:FRAME_HEADER]
            assert header[:1] == b"#" and header.endswith(b"\r\n"), header
            offset, length, database, crc = header[1:-2].split()
            size = FRAME_HEADER + int(length)
            if len(self.buffer) < size:
                break
            effects = self.buffer[FRAME_HEADER:size]
            assert int(offset) == self.offset, (header, self.offset)
            self.crc = crc32c(crc32c(self.crc, header[:39]), effects)
            assert int(crc, 16) == self.crc, header
            self.buffer = self.buffer[size:]
            if not effects:
                asked += 1
                continue
            if not self.frames:
                self.first_database = int(database)
            self.frames.append((self.offset, int(database)))
            self.effects += effects
            self.offset += len(effects)
        return asked

    def follow(self, offset, seconds=30):
        """Receives until it has the stream up to `offset`; acknowledges what it has."""
        deadline = time.monotonic() + seconds
        while self.offset < offset:
            if time.monotonic() > deadline:
                raise TimeoutError(f"at {self.offset} of {offset}")
            self.receive(1)
            if self.take_frames():
                self.acknowledge()
        self.acknowledge()

    def write_data(self, directory):
        """Writes what was received as the data of a server: a base, and one log after it."""
        data = directory / "appendonlydir"
        data.mkdir()
        sequence, log = struct.unpack_from("<QQ", self.base, 20)
        assert struct.unpack_from("<Q", self.base, 36)[0] == 0, "the base begins within a log"
        base_name, log_name = f"appendonly.aof.{sequence}.base.tly", f"appendonly.aof.{log}.incr.aof"
        (data / base_name).write_bytes(self.base)
        head = b"#TALLY-LOG 1 %010d %015d %08x " % (log, 0, 0)
        crc = crc32c(0, head)
        text = head + b"%08x\r\n" % crc
        if self.effects:
            batch = encode(("SELECT", str(self.first_database))) + self.effects
            note = b"#TALLY %010d %015d %015d %08x " % (len(batch), len(text), 0, crc)
            text += batch + note + b"%08x\r\n" % crc32c(crc, batch + note)
        (data / log_name).write_bytes(text)
        manifest = f"file {base_name} seq {sequence} type b\nfile {log_name} seq {log} type i\n".encode()
        check = b"#TALLY-MANIFEST 1 %08x\n" % crc32c(0, manifest)
        (data / "appendonly.aof.manifest").write_bytes(manifest + check)
