"""Which of these devices does a model fit? `python choose.py MODEL DEVICE...`"""

import json
import subprocess
import sys

model, *devices = sys.argv[1:]
for device in devices:
    done = subprocess.run(
        ["outlive", "plan", model, "--device", device, "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1, 4):
        sys.exit(done.stderr)
    plan = json.loads(done.stdout)
    verdict = plan["verdict"]
    room = "" if verdict["margin_bytes"] is None else f"{verdict['margin_bytes']:>16,} bytes to spare"
    print(f"{device:28} {verdict['word']:14} {room}")
    for way in verdict["ways"]:
        print(f"{'':28} but it would: {way['what']}, which needs {way['needed_bytes']:,} bytes")
