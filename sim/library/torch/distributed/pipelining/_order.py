# What a rank does, in order: (kind, stage, micro-batch).
FORWARD, BACKWARD = "F", "B"
SEND_F, RECV_F, SEND_B, RECV_B = "SEND_F", "RECV_F", "SEND_B", "RECV_B"
UNSHARD, RESHARD, REDUCE_GRAD = "UNSHARD", "RESHARD", "REDUCE_GRAD"
_ACTIVE = 3  # stages whose parameters are gathered at once


def looped_order(rank, ranks, n_local, n_microbatches):
    stages, order = [rank + ranks * i for i in range(n_local)], []
    for stage in stages:
        order.extend([(FORWARD, stage, mb) for mb in range(n_microbatches)])
    for stage in stages[::-1]:
        order.extend([(BACKWARD, stage, mb) for mb in range(n_microbatches)[::-1]])
    return order


def interleaved_order(rank, ranks, n_local, n_microbatches, per_round):
    total = n_local * n_microbatches
    warmup = min([(n_local - 1) * per_round + 2 * (ranks - 1 - rank), total])
    forwards, backwards, order = {}, {}, []

    def add(kind, local, counts):
        stage = local * ranks + rank
        counts[stage] = counts.get(stage, -1) + 1
        order.append((kind, stage, counts[stage]))

    for op in range(total + warmup):
        if op < total:
            add(FORWARD, op // per_round % n_local, forwards)
        if op >= warmup:
            add(BACKWARD, n_local - 1 - (op - warmup) // per_round % n_local, backwards)
    return order


def _with_sharding(actions):
    """parameters of the next stages gathered ahead, of stages that are not among them let go"""
    active, out = [], []
    for i, action in enumerate(actions):
        coming = []
        for later in actions[i:]:
            if later[1] not in coming:
                coming.append(later[1])
                if len(coming) == _ACTIVE:
                    break
        for stage in [s for s in sorted(active) if s not in coming]:
            active.remove(stage)
            out.append((RESHARD, stage, None))
        for stage in [s for s in coming if s not in active]:
            active.append(stage)
            out.append((UNSHARD, stage, None))
        out.append(action)
    return out + [(RESHARD, stage, None) for stage in sorted(active)]


def _with_reduction(actions, n_microbatches):
    """gradients reduced after a stage's last backward"""
    counts, out = {}, []
    for action in actions:
        out.append(action)
        if action[0] == BACKWARD:
            counts[action[1]] = counts.get(action[1], 0) + 1
            if counts[action[1]] == n_microbatches:
                out.append((REDUCE_GRAD, action[1], None))
    return out


def with_communication(order, rank_of, num_stages, n_microbatches):
    """the same with what is sent and received: a sender puts the receiver's action into its order, so that no two ranks
    wait for each other. Source: torch.distributed.pipelining.schedules._add_send_recv"""
    left = {rank: _with_reduction(_with_sharding(actions), n_microbatches) for rank, actions in order.items()}
    done, out = {rank: set() for rank in left}, {rank: [] for rank in left}

    def neighbour(action):
        """(stage that gets the result, kinds of sending and receiving)"""
        kind, stage, _ = action
        if kind == FORWARD and stage != num_stages - 1:
            target, kinds = stage + 1, (SEND_F, RECV_F)
        elif kind == BACKWARD and stage != 0:
            target, kinds = stage - 1, (SEND_B, RECV_B)
        else:
            return None
        return None if rank_of[target] == rank_of[stage] else (target, kinds)

    def is_ready(action, before):
        kind, stage, mb = action
        if kind == FORWARD and stage != 0:
            return (RECV_F, stage, mb) in before or (FORWARD, stage - 1, mb) in before
        if kind == BACKWARD and stage != num_stages - 1:
            return (RECV_B, stage, mb) in before or (BACKWARD, stage + 1, mb) in before
        return True

    while left:
        moved = False
        for rank in sorted(left):
            action = left[rank][0]
            if not is_ready(action, done[rank]):
                continue
            moved = True
            left[rank].pop(0)
            if not left[rank]:
                del left[rank]
            out[rank].append(action)
            done[rank].add(action)
            to = neighbour(action)
            if to is None:
                continue
            target, (send, receive) = to
            for at, kind, stage in ((rank, send, action[1]), (rank_of[target], receive, target)):
                out[at].append((kind, stage, action[2]))
                done[at].add((kind, stage, action[2]))
        if not moved:
            raise AssertionError("Malformed compute schedule, can't schedule sends/recvs")
    return out
