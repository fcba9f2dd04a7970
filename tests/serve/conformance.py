"""Asks the service whatever its OpenAPI document permits and forbids (Schemathesis): no answer is a server error, and none
is outside the document. The arguments are passed on to Schemathesis.
"""

import pathlib
import subprocess
import sys

from server import Server

CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance", "ignored_auth"]
# An endless answer.
WITHOUT = ["/v1/events"]


def main():
    schemathesis = pathlib.Path(sys.executable).with_name("schemathesis")
    with Server() as server:
        # Something to be found, so that answers are more than 404.
        text = "# Books\n\n## Search\n\nFinds books.\n\n```bash\ncurl https://books.example.org/v1/search?q={query}\n```\n"
        status, answer = server.call("POST", "/v1/capabilities", {"text": text, "id": "books"})
        assert status == 200, (status, answer)
        status, answer = server.call("POST", "/v1/skills/json.validate/run", {"schema": {}, "instance": 1})
        command = [schemathesis, "run", f"{server.url}/openapi.json",
                   "--header", f"Authorization: Bearer {server.token('acme', 'operator')}",
                   "--checks", ",".join(CHECKS), "--request-timeout", "60", "--suppress-health-check", "all",
                   *[part for path in WITHOUT for part in ("--exclude-path", path)], *sys.argv[1:]]
        # It keeps what it found in its working directory, which goes with the server.
        code = subprocess.run(command, check=False, cwd=server.folder).returncode
        assert server.process.poll() is None, "the service is gone"
    if code:
        print(server.said[-4000:], file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
