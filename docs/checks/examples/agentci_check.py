import json
import sys


def check(judge):
    """Calls judge(run) and prints its verdict: a bool, or (bool, message)."""
    verdict = judge(json.load(sys.stdin))
    passed, message = verdict if isinstance(verdict, tuple) else (verdict, None)
    if not isinstance(passed, bool):
        sys.exit(f"the check gave {passed!r}, not True or False")
    status = "pass" if passed else "fail"
    print(json.dumps({"status": status, **({"message": message} if message else {})}))
