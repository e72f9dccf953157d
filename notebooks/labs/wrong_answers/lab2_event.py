# %% One sign only {"part": 1, "points": 0, "hint": "There are two signs"}
def outputs_from(value, epsilon):
    return release(value, epsilon, 1, np.arange(1, 2**BITS + 1))


# %% The uniform number may be 0 {"part": 1, "points": 0, "hint": "ln 0 is no number"}
def outputs_from(value, epsilon):
    with np.errstate(divide="ignore"):
        return np.concatenate([release(value, epsilon, sign, np.arange(2**BITS + 1)) for sign in (1, -1)])


# %% Noise in float64 {"part": 1, "points": 0, "hint": "Every step rounds to float32"}
def outputs_from(value, epsilon):
    noise = np.log(np.arange(1, 2**BITS + 1) / 2**BITS) / epsilon
    return np.concatenate([value + noise, value - noise])


# %% Rounded to float32 at the end only {"part": 1, "points": 1, "hint": "Round each step"}
def outputs_from(value, epsilon):
    noise = np.log(np.arange(1, 2**BITS + 1) / 2**BITS) / epsilon
    return np.concatenate([value + noise, value - noise]).astype(np.float32)


# %% The nearer value {"part": 2, "points": 0, "hint": "Noise in real numbers allows this event as well"}
def event(outputs, epsilon):
    return outputs > 0.5


# %% Equal up to a tolerance {"part": 2, "points": 0, "hint": "without a tolerance", "after": [1]}
def event(outputs, epsilon):
    others = np.sort(outputs_from(1, epsilon))
    near = others[np.clip(np.searchsorted(others, outputs), 0, len(others) - 1)]
    return np.abs(near - outputs) <= 0.5 + 1 / epsilon


# %% The list of one budget for all {"part": 2, "points": 2, "hint": "use the outputs of this ε", "after": [1]}
def event(outputs, epsilon):
    return np.isin(outputs, outputs_from(1, 1.0))


# %% One bool for all outputs {"part": 2, "points": 0, "hint": "Compare the whole array at once"}
def event(outputs, epsilon):
    return bool(np.mean(outputs) > 0.5)


# %% Integers instead of bools {"part": 2, "points": 0, "hint": "Compare the whole array at once"}
def event(outputs, epsilon):
    return np.where(outputs > 0.5, 1, 0)


# %% A few of the outputs that prove the value {"part": 2, "points": 1, "hint": "Better, but not the best"}
def event(outputs, epsilon):
    return (np.abs(outputs) < 0.5) & (outputs.astype(np.float64) * 2**24 % 1 != 0)


# %% A list for 16 bits {"part": 3, "points": 0, "hint": "It must never happen from 1", "after": [1]}
def fine(outputs):
    return ~np.isin(outputs, outputs_from(1, 1.0))


# %% A grid that is too coarse {"part": 3, "points": 0, "hint": "lie closer together"}
def fine(outputs):
    return outputs.astype(np.float64) * 2**23 % 1 != 0


# %% A window that is too narrow {"part": 3, "points": 1, "hint": "between -1/2 and 1/2"}
def fine(outputs):
    exact = outputs.astype(np.float64)
    return (np.abs(exact) < 0.1) & (exact * 2**24 % 1 != 0)
