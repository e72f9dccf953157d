# %% Neighbours two apart {"part": 1, "points": 0, "hint": "at most 1"}
x = int(2 * 1075 * np.log(2) / epsilon)
data_in = [x] + [x + 2] * 99
data_out = [x] * 100

# %% All weights are zero {"part": 1, "points": 0, "hint": "some weight must stay positive"}
data_in = [9000, 9001]
data_out = [9000, 9000]

# %% Utilities as small as in the text {"part": 1, "points": 1, "hint": "From which utility on is a weight 0"}
data_in = [0] + [1] * 99
data_out = [0] * 100

# %% One before the boundary {"part": 1, "points": 1, "hint": "From which utility on is a weight 0"}
x = int(2 * 1075 * np.log(2) / epsilon)
data_in = [x - 1] + [x] * 99
data_out = [x - 1] * 100

# %% One outcome more with Alice {"part": 1, "points": 0, "hint": "not how many there are"}
x = int(2 * 1075 * np.log(2) / epsilon)
data_in = [x, x + 1, x + 1]
data_out = [x, x]

# %% The same utilities in both worlds {"part": 1, "points": 0, "hint": "Alice must change something"}
x = int(2 * 1075 * np.log(2) / epsilon)
data_in = data_out = [x, x + 1]

# %% An outcome that is rare in both worlds {"part": 2, "points": 0, "hint": "Collect all the outcomes", "after": [1]}
event = {7}

# %% Too few outcomes for the advantage {"part": 2, "points": 1, "hint": "Take more outcomes that become impossible"}
x = int(2 * 1075 * np.log(2) / epsilon)
data_in = [x, x + 1]
data_out = [x, x]
event = {0}

# %% An index instead of a set {"part": 2, "points": 0, "hint": "is the event that", "after": [1]}
event = 0

# %% The worlds of part 1 again {"part": 3, "points": 0, "hint": "only differences count"}
x = int(2 * 1075 * np.log(2) / epsilon)
shifted_in = [x] + [x + 1] * 99
shifted_out = [x] * 100

# %% A difference so large that weights are 0 in both worlds {"part": 3, "points": 0, "hint": "must leave a trace"}
x = int(2 * 1075 * np.log(2) / epsilon)
shifted_in = [0] + [x + 1] * 99
shifted_out = [0] + [x] * 99

# %% Absorbed in both worlds {"part": 3, "points": 0, "hint": "and not in the other"}
y = int(2 * 53 * np.log(2) / epsilon)
shifted_in = [0] + [y + 4] * 99
shifted_out = [0] + [y + 3] * 99


# %% The weights without their total {"part": 4, "points": 0, "hint": "the total does too"}
def real_loss(data_in, data_out, epsilon):
    return epsilon * np.abs(data_in - data_out).max() / 2


# %% One direction only {"part": 4, "points": 0, "hint": "both directions"}
def real_loss(data_in, data_out, epsilon):
    p, q = (np.exp(-epsilon * world / 2) for world in (data_in, data_out))
    return np.log(p[0] / p.sum() / (q[0] / q.sum()))


# %% The factor 1/2 is forgotten {"part": 4, "points": 0, "hint": "check the factor 1/2"}
def real_loss(data_in, data_out, epsilon):
    p, q = (np.exp(-epsilon * world) for world in (data_in, data_out))
    return np.abs(np.log(p / p.sum() / (q / q.sum()))).max()
