"""A naive Laplace mechanism that speaks the protocol of docs/protocol.md: any Python, nothing installed.

To audit a library of another virtual environment, replace `release` and start it with that environment's interpreter:
    python -m audit run --target "cmd: other-venv/bin/python laplace_target.py" --family laplace
"""

import json
import math
import random
import sys

uniform = random.SystemRandom().random


def release(data, parameters):
    """One outcome: textbook noise in floats, which is what the audit finds broken."""
    if parameters["query"] == "sum":
        data = math.fsum(data)
    scale = parameters["sensitivity"] / parameters["epsilon"]
    if isinstance(data, list):
        return [value + noise(scale) for value in data]
    return data + noise(scale)


def noise(scale):
    return random.choice((-scale, scale)) * math.log(1.0 - uniform())


def number(value):
    """Integers beyond 2^53 come as strings."""
    if isinstance(value, list):
        return [number(one) for one in value]
    return int(value) if isinstance(value, str) else value


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
        data, parameters = number(request["data"]), request["parameters"]
        answer = {"outcomes": [outcome(data, parameters) for _ in range(request["runs"])]}
    print(json.dumps(answer), flush=True)
