"""Hydrations a second under load, and what they cost: rate, latency, errors, memory before, after and over time.

    load.py [--clients N] [--seconds N] [--soak SECONDS] [--require] [--rows]

With `--require` the bars of the service are held: 16,000 a second, p99 12 ms, 4,000 a second of files just changed, no error, 25 MiB when idle, and memory that
does not grow during the soak. They mean an idle machine of two cores; the client is on the same ones. `--rows` prints rows
of the table of `scripts/bench.sh` instead.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

from server import ROOT, Server

HERE = pathlib.Path(__file__).parent
MEBIBYTE = 1024 * 1024
# Memory that a soak may have grown by: what caches and allocators settle on.
GROWTH = 8 * MEBIBYTE


def burst(server, clients, seconds, uri):
    environment = {**os.environ, "HYDRANT_TOKEN": server.token("acme", "caller"), "HYDRANT_BODY": json.dumps({"uri": uri})}
    said = subprocess.run(
        ["wrk", "--threads", "1", "--connections", str(clients), "--duration", f"{seconds}s", "--timeout", "10s",
         "--script", HERE / "hydrate.lua", f"{server.url}/v1/hydrate"],
        env=environment, check=True, capture_output=True, text=True).stdout
    return json.loads(said.splitlines()[-1])


def seconds(usage):
    return usage.ru_utime + usage.ru_stime


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=int, default=10)
    options.add_argument("--soak", type=int, default=0)
    options.add_argument("--uri", default="os://agents/release-captain.md")
    options.add_argument("--require", action="store_true")
    options.add_argument("--rows", action="store_true")
    options = options.parse_args()
    concurrency = f"concurrency = {options.clients}\nqueue = 4096\nconnections = 1000"
    failures = []
    with Server(tenant=concurrency, serve="queue = 4096", os_root=ROOT / "examples/os") as server:
        idle = server.resident_bytes()
        status, answer = server.call("POST", "/v1/hydrate", {"uri": options.uri})
        assert status == 200, (status, answer)
        # Once before it counts: what is compiled and cached then is. Of files that changed within three seconds nothing is kept:
        # each of these hydrations is done anew.
        server.touch()
        anew = burst(server, options.clients, 1, options.uri)
        time.sleep(3)
        burst(server, options.clients, 1, options.uri)
        used, of_client = server.processor_seconds(), resource.getrusage(resource.RUSAGE_CHILDREN)
        measured = burst(server, options.clients, options.seconds, options.uri)
        used, of_client = server.processor_seconds() - used, seconds(resource.getrusage(resource.RUSAGE_CHILDREN)) - seconds(of_client)
        warm = server.resident_bytes()
        rate = measured["requests"] / (measured["duration_us"] / 1e6)
        wrong = {name: measured[name] + anew[name] for name in ("status", "connect", "read", "write", "timeout") if measured[name] + anew[name]}
        rate_anew = anew["requests"] / (anew["duration_us"] / 1e6)
        p99 = measured["p99_us"] / 1000
        bars = [
            (f"service: hydrations a second, {options.clients} clients", f"{rate:,.0f}", ">= 16,000", rate >= 16_000),
            (f"service: p99 with {options.clients} clients", f"{p99:.1f}ms", "<= 12ms", p99 <= 12),
            ("service: memory when idle", f"{idle / MEBIBYTE:.1f} MiB", "<= 25 MiB", idle <= 25 * MEBIBYTE),
            ("service: the same, of files that have just changed", f"{rate_anew:,.0f}", ">= 4,000", rate_anew >= 4_000),
        ]
        if options.rows:
            for what, value, bar, held in bars:
                print(f"{what:<50} {value:>10} {'-':>10} {'-':>7}  {bar:<12} {'yes' if held else 'NO'}")
            sys.exit(bool(wrong) or (options.require and not all(held for *_, held in bars)))
        print(f"hydrations  {rate:,.0f} a second with {options.clients} clients, {rate_anew:,.0f} of files that have just changed")
        # On a machine that is busy with something else too, this says more than the rate.
        print(f"processor   {used / measured['requests'] * 1e6:.1f} µs a hydration, and {of_client / measured['requests'] * 1e6:.1f} µs of the client")
        print(f"latency     p50 {measured['p50_us'] / 1000:.2f} ms, p99 {p99:.2f} ms, most {measured['max_us'] / 1000:.2f} ms")
        print(f"errors      {wrong or 'none'}")
        print(f"memory      {idle / MEBIBYTE:.1f} MiB idle, {warm / MEBIBYTE:.1f} MiB after")
        if wrong:
            failures.append(f"errors: {wrong}")
        if options.require:
            failures += [f"not held: {what}: {value}, {bar}" for what, value, bar, held in bars if not held]
        if options.soak:
            # A third to settle; from then on memory stays where it is.
            burst(server, options.clients, max(1, options.soak // 3), options.uri)
            settled = server.resident_bytes()
            measured = burst(server, options.clients, max(1, options.soak * 2 // 3), options.uri)
            grown = server.resident_bytes() - settled
            print(f"soak        {measured['requests']:,} hydrations, memory {grown / MEBIBYTE:+.1f} MiB")
            if grown > GROWTH:
                failures.append(f"memory grew by {grown / MEBIBYTE:.1f} MiB")
            if any(measured[name] for name in ("status", "connect", "read", "write", "timeout")):
                failures.append(f"errors during the soak: {measured}")
    if server.process.returncode != 0:
        failures.append(f"the service ended with {server.process.returncode}")
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
