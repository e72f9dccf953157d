"""A naive Laplace mechanism that speaks the protocol of docs/protocol.md: any Python, nothing installed.

To audit a library of another virtual environment, replace `release` and start it with that environment's interpreter:
    subnormal check "cmd: other-venv/bin/python laplace_target.py" --in 1 --out 0 --epsilon 1
"""

import json
import math
import random
import sys

uniform = random.SystemRandom().random


def release(data, parameters):
    """One outcome: a count, which one person changes by 1 at most, and textbook noise in floats."""
    return data + noise(1 / parameters["epsilon"])


def noise(scale):
    return random.choice((-scale, scale)) * math.log(1.0 - uniform())


def outcome(data, parameters):
    """As JSON: repr has 17 digits where they are needed; what raises is an outcome as well."""
    try:
        return release(data, parameters)
    except ArithmeticError as error:
        return f"error: {type(error).__name__}: {error}"


for line in sys.stdin:
    request = json.loads(line)
    if "protocol" in request:
        answer = {"protocol": 1}
    else:
        data, parameters = request["data"], request["parameters"]
        answer = {"outcomes": [outcome(data, parameters) for _ in range(request["runs"])]}
    print(json.dumps(answer), flush=True)
