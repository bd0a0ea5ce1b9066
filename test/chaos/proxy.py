#!/usr/bin/python3
"""A TCP proxy that disturbs links: it reads commands from its input, one JSON object a line, and answers each.

  {"do": "open", "rule": R, "host": H, "target": [HOST, PORT]}  -> {"id": N, "port": P}
  {"do": "rule", "id": N, "rule": R}                            -> what it did since the previous rule
  {"do": "close", "id": N}                                      -> the same; the link's connections end

Without a target, a connection goes to its original destination. A rule:

  delay_ms, jitter_ms   each piece waits that long, in both directions
  hold: "answers" | "requests" | "both"   bytes in that direction never arrive; the connection stays
  lose_answer: P        a piece of an answer is lost with that probability, and the connection ends
  cut_after: [A, B]     each connection ends in the middle of an answer, after A to B bytes of answers
  seed                  of the random numbers

A changed rule ends the existing connections. The proxy ends with its input."""
import asyncio
import json
import random
import socket
import struct
import sys

PIECE = 65536
ORIGINAL_DESTINATION = 80  # SO_ORIGINAL_DST


def headed_for(sock):
    """The original target of a redirected connection."""
    raw = sock.getsockopt(socket.SOL_IP, ORIGINAL_DESTINATION, 16)
    port, address = struct.unpack("!2xH4s8x", raw)
    return socket.inet_ntoa(address), port


def abort(writer):
    if writer is not None and writer.transport is not None:
        writer.transport.abort()


class Link:
    def __init__(self, rule, target):
        self.target = target
        self.ends = set()
        self.tasks = set()
        self.set_rule(rule)

    def set_rule(self, rule):
        self.rule = rule
        self.dice = random.Random(rule.get("seed", 0))
        self.did = {"connections": 0, "pieces": 0, "delayed": 0, "held_bytes": 0, "lost": 0, "cut": 0}

    def change(self, rule):
        did = self.did
        self.end_connections()
        self.set_rule(rule)
        return did

    def end_connections(self):
        for writer in list(self.ends):
            abort(writer)
        for task in list(self.tasks):
            task.cancel()
        self.ends.clear()

    async def serve(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        far = None
        try:
            host, port = self.target or headed_for(writer.get_extra_info("socket"))
            self.did["connections"] += 1
            far_reader, far = await asyncio.wait_for(asyncio.open_connection(host, port), 5)
            self.ends |= {writer, far}
            left = self.dice.randint(*self.rule["cut_after"]) if "cut_after" in self.rule else None
            await asyncio.gather(self.pump(reader, far, "requests", None),
                                 self.pump(far_reader, writer, "answers", left))
        except (OSError, asyncio.TimeoutError, asyncio.CancelledError, EOFError):
            pass
        finally:
            self.tasks.discard(task)
            for end in (writer, far):
                self.ends.discard(end)
                abort(end)

    async def pump(self, source, sink, way, left):
        rule, did = self.rule, self.did
        while piece := await source.read(PIECE):
            did["pieces"] += 1
            if rule.get("hold") in (way, "both"):
                did["held_bytes"] += len(piece)
                continue
            if way == "answers":
                if self.dice.random() < rule.get("lose_answer", 0):
                    did["lost"] += 1
                    raise EOFError
                if left is not None and len(piece) >= left:
                    did["cut"] += 1
                    sink.write(piece[:left])
                    await sink.drain()
                    await asyncio.sleep(0.01)
                    raise EOFError
                left = left - len(piece) if left is not None else None
            if "delay_ms" in rule:
                did["delayed"] += 1
                jitter = self.dice.uniform(0, rule.get("jitter_ms", 0))
                await asyncio.sleep((rule["delay_ms"] + jitter) / 1000)
            sink.write(piece)
            await sink.drain()
        raise EOFError  # one end closed: closes the other too


class Desk:
    """The links by number, and the commands on them."""

    def __init__(self):
        self.links, self.servers, self.number = {}, {}, 0

    async def open(self, rule, host, target=None):
        link = Link(rule, target)
        server = await asyncio.start_server(link.serve, host, 0)
        self.number += 1
        self.links[self.number], self.servers[self.number] = link, server
        return {"id": self.number, "port": server.sockets[0].getsockname()[1]}

    async def rule(self, id, rule):
        return self.links[id].change(rule)

    async def close(self, id):
        self.servers.pop(id).close()
        return self.links.pop(id).change({})

    async def obey(self, line):
        words = json.loads(line)
        do = words.pop("do")
        if do not in ("open", "rule", "close"):
            return {"error": f"unknown command {do}"}
        try:
            return await getattr(self, do)(**words)
        except (OSError, KeyError, TypeError) as error:
            return {"error": f"{type(error).__name__}: {error}"}


async def main():
    desk, reader = Desk(), asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        print(json.dumps(await desk.obey(line)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
