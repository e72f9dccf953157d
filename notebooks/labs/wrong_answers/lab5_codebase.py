# %% One patient is replaced {"part": 1, "points": 0, "hint": "one weight more"}
worlds = ([40], [90])

# %% Neighbours that keep the claim {"part": 1, "points": 1, "hint": "Whose weight moves the sum most"}
worlds = ([58, 45], [58])

# %% The result of the check, instead of its two lists {"part": 1, "points": 0, "hint": "in `result.worlds`"}
worlds = check(patients, pairs=[([], [40])], claim=Claim(1.0), runs=1000, seconds=1)


# %% The upper bound {"part": 2, "points": 0, "hint": "Which end of the interval lies further from 0"}
def sensitivity_of_sum(low, high):
    return high


# %% Right where one record is replaced {"part": 2, "points": 0, "hint": "without any patient"}
def sensitivity_of_sum(low, high):
    return high - low


# %% Both bounds added {"part": 2, "points": 2, "hint": "more noise than needed"}
def sensitivity_of_sum(low, high):
    return abs(low) + abs(high)


# %% The clip of numpy {"part": 3, "points": 0, "hint": "neither less nor more"}
def clip(value, low, high):
    import numpy

    return float(numpy.clip(value, low, high))


# %% An error for missing weights {"part": 3, "points": 0, "hint": "an exception tells"}
def clip(value, low, high):
    if value != value:
        raise ValueError("a weight is missing")
    return min(max(value, low), high)


# %% Missing weights are marked by a number {"part": 3, "points": 0, "hint": "must lie within the bounds"}
def clip(value, low, high):
    return -9999 if value != value else min(max(value, low), high)


# %% The bounds are exchanged {"part": 3, "points": 0, "hint": "Move only what lies outside"}
def clip(value, low, high):
    return max(min(value, low), high)


# %% Zero is taken for a missing weight {"part": 3, "points": 0, "hint": "Move only what lies outside"}
def clip(value, low, high):
    if not value or value != value:
        return low
    return min(max(value, low), high)


# %% Weights are rounded to halves {"part": 3, "points": 0, "hint": "Move only what lies outside"}
def clip(value, low, high):
    if value != value:
        return low
    return round(2 * min(max(value, low), high)) / 2


# %% Weights are rounded to single precision {"part": 3, "points": 0, "hint": "Move only what lies outside"}
def clip(value, low, high):
    import numpy

    if value != value:
        return low
    return float(numpy.float32(min(max(value, low), high)))
