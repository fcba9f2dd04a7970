#!/usr/bin/env node
// Starts the program of this processor, with the same arguments, streams, signals and exit status.
"use strict";

const { spawn } = require("node:child_process");

let program;
try {
  program = require.resolve(`hydrant-${process.platform}-${process.arch}/bin/hydrant`);
} catch {
  console.error(
    `hydrant: there is no program for ${process.platform} on ${process.arch} here. ` +
      "There is one for Linux on x64 and arm64, which npm leaves out with --omit=optional.",
  );
  process.exit(1);
}

// Before there is a program, so that no signal ends this process alone. A handler runs when the program was started.
let child;
// The terminal sends Ctrl-C to both, and the program decides what it means; others reach this process alone.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`hydrant: ${program} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(status);
  }
});
