#!/usr/bin/env python3
"""Measures `hydrant route` on labelled prompts, one JSON object a line.

    guest/prompt-hydrate/examples/eval.py FILE.jsonl [--min-accuracy X] [--min-precision Y] [-- OPTION...]

A row has `prompt`, `acceptable` (a list of workflows) or `expected`, and optionally `id`, `forbidden`, `mutating` and
`session_context` (a list of `{"role", "text"}`). It is right when its route is acceptable; abstaining is the route `plan-mode`.
Rows with `skip_hydration` or `skills` are about the hook and installed skills, and are left out; so are rows of which no workflow
is in the catalogue. Options after `--` go to `hydrant route`, for instance `--catalog DIR`.

Exit status: 0 done, 1 below a minimum, 2 a row or a run that cannot be used.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import tempfile


def wilson(hits, of):
    """Returns the share and its 95 % interval after Wilson."""
    if not of:
        return 0.0, 0.0, 0.0
    z, share = 1.96, hits / of
    middle, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return share, (middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of)


class Unusable(Exception):
    """A row or a run that cannot be used."""


def rows(path):
    """Returns the rows that are routed, and how many are left out."""
    kept, left_out = [], 0
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                if row.get("skip_hydration") or row.get("skills"):
                    left_out += 1
                    continue
                right = row.get("acceptable") or [row["expected"]]
                turns = [(turn["role"], turn["text"]) for turn in row.get("session_context") or []]
                kept.append((number, row["prompt"], turns, right, row))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise Unusable(f"{path}: line {number}: {error!r}") from error
    return kept, left_out


def route(program, options, prompt, turns):
    """Returns what `hydrant route` answers for a prompt after these turns of a session."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as transcript:
        for role, text in turns:
            transcript.write(json.dumps({"type": role, "message": {"role": role, "content": text}}) + "\n")
        transcript.flush()
        command = [program, "route", "-", "--format", "json", *(["--transcript", transcript.name] if turns else []), *options]
        ran = subprocess.run(command, input=prompt, capture_output=True, text=True)
    if ran.returncode:
        raise Unusable(f"{' '.join(command)}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def minimum(text):
    """Returns a number from 0 to 1."""
    if not 0 <= float(text) <= 1:
        raise argparse.ArgumentTypeError("a number from 0 to 1")
    return float(text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("file")
    arguments.add_argument("--min-accuracy", type=minimum, default=0)
    arguments.add_argument("--min-precision", type=minimum, default=0)
    arguments.add_argument("--hydrant", default=os.environ.get("HYDRANT", "hydrant"), help="the program [default: $HYDRANT, hydrant]")
    given = sys.argv[1:]
    split = given.index("--") if "--" in given else len(given)
    args, options = arguments.parse_args(given[:split]), given[split + 1:]
    kept, left_out = rows(args.file)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            # Asked for by name, a workflow that the catalogue has is taken.
            names = {name for row in kept for name in row[3]} - {"plan-mode"}
            asked = {name: pool.submit(route, args.hydrant, ["--workflow", name, *options], "what is this", []) for name in names}
            active = {"plan-mode", *(name for name, each in asked.items() if each.result()["workflow"] == name)}
            unknown = [row for row in kept if not active.intersection(row[3])]
            kept = [row for row in kept if active.intersection(row[3])]
            asked = [pool.submit(route, args.hydrant, options, prompt, turns) for _, prompt, turns, _, _ in kept]
            answers = [each.result() for each in asked]
        except Unusable:
            pool.shutdown(cancel_futures=True)
            raise
    right = committed = precise = 0
    recall, confusion = collections.defaultdict(lambda: [0, 0]), collections.Counter()
    for (number, prompt, _, acceptable, row), answer in zip(kept, answers):
        went, abstained = answer["workflow"], answer["abstained"]
        good = went in acceptable
        right, committed, precise = right + good, committed + (not abstained), precise + (good and not abstained)
        recall[acceptable[0]][0] += good
        recall[acceptable[0]][1] += 1
        forbidden = went in row.get("forbidden", [])
        if good and not forbidden:
            continue
        confusion[acceptable[0], went] += 1
        note = " (a change taken for a question)" if row.get("mutating") and went == "simple-question" else ""
        note += " (forbidden)" if forbidden else ""
        print(f"line {number} [{row.get('id', '')}] {prompt[:100]!r}: {went} {answer['confidence']:.2f}, not {acceptable}{note}")
    for (expected, went), count in confusion.most_common():
        print(f"{expected} went to {went}: {count}")
    for workflow, (hits, of) in sorted(recall.items()):
        print(f"recall of {workflow}: {hits} of {of}")
    below = False
    for name, hits, of, least in [("accuracy", right, len(kept), args.min_accuracy), ("precision", precise, committed, args.min_precision),
                                  ("coverage", committed, len(kept), 0)]:
        share, low, high = wilson(hits, of)
        below |= share < least
        print(f"{name} {100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f}), {hits} of {of}")
    if left_out or unknown:
        print(f"{left_out} rows left out, and {len(unknown)} of which no workflow is in the catalogue")
    return 1 if below else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unusable, OSError, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
