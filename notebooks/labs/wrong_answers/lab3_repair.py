# %% Noise with a largest value {"part": 1, "points": 0, "hint": "Every integer must be possible"}
def noise(bits):
    return bits.take(4) - bits.take(4)


# %% Float noise that is rounded to integers {"part": 1, "points": 0, "hint": "Every integer must be possible"}
def noise(bits):
    sign = 1 if bits.take(1) else -1
    return sign * round(-math.log((bits.take(10) + 1) / 1024) / 0.7)


# %% A sign and a number of heads: 0 twice {"part": 1, "points": 1, "hint": "at 0 too"}
def noise(bits):
    count = 0
    while bits.take(1):
        count += 1
    return -count if bits.take(1) else count


# %% Randomness of its own {"part": 1, "points": 0, "hint": "is one fair coin"}
def noise(bits):
    import random

    return random.choice([-1, 1]) * int(random.expovariate(0.7))


# %% A word of 64 bits at once {"part": 1, "points": 0, "hint": "Take few bits at a time"}
def noise(bits):
    return int(math.log2(bits.take(64) + 1))


# %% Floats {"part": 1, "points": 0, "hint": "Integers never round"}
def noise(bits):
    return bits.take(3) / 2


# %% Python's round {"part": 2, "points": 0, "hint": "goes to even numbers", "after": [1]}
def release(value, bits):
    return min(max(round(value) + noise(bits), 0), 4)


# %% Values out of range are refused {"part": 2, "points": 0, "hint": "An exception is an outcome", "after": [1]}
def release(value, bits):
    if not 0 <= value <= 4:
        raise ValueError(f"{value} is out of range")
    return min(max(math.floor(value + 0.5) + noise(bits), 0), 4)


# %% Noise of whole steps on a grid of halves {"part": 2, "points": 0, "hint": "How many steps", "after": [1]}
def release(value, bits):
    halves = math.floor(2 * min(max(value, 0), 4) + 0.5) + noise(bits)
    return min(max(halves // 2, 0), 4)


# %% A constant {"part": 2, "points": 0, "hint": "useless"}
def release(value, bits):
    return 2


# %% No noise at the ends {"part": 2, "points": 0, "hint": "possible for one of them only", "after": [1]}
def release(value, bits):
    nearest = math.floor(min(max(value, 0), 4) + 0.5)
    return nearest if nearest in (0, 4) else min(max(nearest + noise(bits), 0), 4)


# %% Twice the noise {"part": 3, "points": 0, "hint": "Too much noise", "after": [1]}
def release(value, bits):
    return min(max(math.floor(value + 0.5) + 2 * noise(bits), 0), 4)


# %% The outcome is not clamped {"part": 3, "points": 2, "hint": "Clamping the outcome costs no privacy", "after": [1]}
def release(value, bits):
    return math.floor(min(max(value, 0), 4) + 0.5) + noise(bits)


# %% A step for every two bits {"part": 1, "points": 0, "hint": "One coin for each step"}
def noise(bits):
    count = 0
    while bits.take(2) < 3:
        count += 1
    while bits.take(2) < 3:
        count -= 1
    return count
