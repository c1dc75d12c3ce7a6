import re
from enum import Enum
from typing import NamedTuple

# What a rank does, in order. Source: torch.distributed.pipelining.schedules


class _ComputationType(str, Enum):
    FORWARD = "F"
    BACKWARD_INPUT = "I"
    BACKWARD_WEIGHT = "W"
    UNSHARD = "UNSHARD"
    RESHARD = "RESHARD"
    SEND_F = "SEND_F"
    RECV_F = "RECV_F"
    SEND_B = "SEND_B"
    RECV_B = "RECV_B"
    FULL_BACKWARD = "B"
    OVERLAP_F_B = "OVERLAP_F_B"
    REDUCE_GRAD = "REDUCE_GRAD"

    @staticmethod
    def from_str(action):
        for kind in _ComputationType:
            if kind.value == action:
                return kind
        raise RuntimeError(f"Invalid computation type {action}")


FORWARD = F = _ComputationType.FORWARD
BACKWARD_INPUT = I = _ComputationType.BACKWARD_INPUT
BACKWARD_WEIGHT = W = _ComputationType.BACKWARD_WEIGHT
UNSHARD = _ComputationType.UNSHARD
RESHARD = _ComputationType.RESHARD
SEND_F = _ComputationType.SEND_F
RECV_F = _ComputationType.RECV_F
SEND_B = _ComputationType.SEND_B
RECV_B = _ComputationType.RECV_B
FULL_BACKWARD = B = _ComputationType.FULL_BACKWARD
OVERLAP_F_B = _ComputationType.OVERLAP_F_B
REDUCE_GRAD = _ComputationType.REDUCE_GRAD

_ACTIVE = 3  # stages whose parameters are gathered at once
_WORDS = re.compile(r"(\d+)(F|I|B|W|UNSHARD|RESHARD|REDUCE_GRAD|SEND_F|RECV_F|SEND_B|RECV_B)(\d*)")


class _Action(NamedTuple):
    stage_index: int
    computation_type: _ComputationType
    microbatch_index: int = None
    sub_actions: tuple = None

    @property
    def is_compute_op(self):
        return self.computation_type in (FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, OVERLAP_F_B)

    @staticmethod
    def from_str(action_string):
        """ "2F0", "1UNSHARD" or "(0F3;7B1)OVERLAP_F_B" as an action; "" is None"""
        action_string = action_string.strip()
        if not action_string:
            return None
        if action_string.startswith("(") and ")" in action_string:
            parts, kind = action_string[1:].split(")", 1)
            subs = tuple([_Action.from_str(part) for part in parts.split(";") if part.strip()])
            return _Action(-1, _ComputationType.from_str(kind), None, subs or None)
        match = _WORDS.match(action_string)
        if match is None:
            raise RuntimeError(
                f"Invalid action string: {action_string}, should be formatted as [stage][action type][(microbatch)] "
                "e.g. 2F0"
            )
        stage, kind, mb = match.groups()
        return _Action(int(stage), _ComputationType.from_str(kind), int(mb) if mb else None)


def leaves(action):
    """the actions that one is made of"""
    return (action,) if action.sub_actions is None else action.sub_actions


# ---- what each schedule computes


def looped_order(rank, ranks, n_local, n_microbatches):
    stages, order = [rank + ranks * i for i in range(n_local)], []
    for stage in stages:
        order.extend([_Action(stage, FORWARD, mb) for mb in range(n_microbatches)])
    for stage in stages[::-1]:
        order.extend([_Action(stage, FULL_BACKWARD, mb) for mb in range(n_microbatches)[::-1]])
    return order


class _Counted:
    """actions in order, the next micro-batch of each stage and kind"""

    def __init__(self):
        self.order, self._next = [], {}

    def next(self, kind, stage):
        mb = self._next.get((kind, stage), 0)
        self._next[kind, stage] = mb + 1
        return mb

    def count(self, kind, stage):
        return self._next.get((kind, stage), 0)

    def add(self, kind, stage):
        self.order.append(_Action(stage, kind, self.next(kind, stage)))


def interleaved_order(rank, ranks, n_local, n_microbatches, per_round):
    total = n_local * n_microbatches
    warmup = min([(n_local - 1) * per_round + 2 * (ranks - 1 - rank), total])
    made = _Counted()
    for op in range(total + warmup):
        if op < total:
            made.add(FORWARD, op // per_round % n_local * ranks + rank)
        if op >= warmup:
            made.add(FULL_BACKWARD, (n_local - 1 - (op - warmup) // per_round % n_local) * ranks + rank)
    return made.order


def zero_bubble_order(rank, ranks, n_local, n_microbatches, per_round):
    """as interleaved, gradients of parameters after those of inputs: on rank r from its r-th on"""
    total = n_local * n_microbatches
    warmup = min([(n_local - 1) * per_round + ranks - 1 - rank, total])
    made, of_weights = _Counted(), []
    for op in range(total + warmup):
        if op < total:
            made.add(FORWARD, op // per_round % n_local * ranks + rank)
        if op >= warmup:
            stage = (n_local - 1 - (op - warmup) // per_round % n_local) * ranks + rank
            made.add(BACKWARD_INPUT, stage)
            of_weights.append(stage)
            if op - warmup >= rank:
                made.add(BACKWARD_WEIGHT, of_weights.pop(0))
    for stage in of_weights:
        made.add(BACKWARD_WEIGHT, stage)
    return made.order


def zbv_order(rank, ranks, n_microbatches):
    """two stages a rank, in the shape of a V. Source: ScheduleZBVZeroBubble"""
    count = max([2 * ranks - 1, n_microbatches])
    first, second, made = rank, 2 * ranks - 1 - rank, _Counted()
    done = {first: 0, second: 0}

    def forward(stage):
        made.add(FORWARD, stage)
        done[stage] += 1

    def backward(stage):
        made.add(BACKWARD_INPUT, stage)
        made.add(BACKWARD_WEIGHT, stage)

    for _ in range(2 * (ranks - rank) - 1):
        forward(first)
    for _ in range(rank):
        forward(second)
        forward(first)
    for _ in range(ranks - rank):
        forward(second)
        backward(second)
    while done[second] < done[first] or done[first] < count:
        if done[first] < count:
            forward(first)
        backward(first)
        forward(second)
        backward(second)
    for _ in range(rank):
        made.add(BACKWARD_INPUT, first)
        made.add(BACKWARD_INPUT, second)
    for _ in range(ranks - rank):
        made.add(BACKWARD_INPUT, first)
        made.add(BACKWARD_WEIGHT, first)
    for stage in (second, first):
        while made.count(BACKWARD_WEIGHT, stage) < done[stage]:
            made.add(BACKWARD_WEIGHT, stage)
    return [action for action in made.order if action.microbatch_index < n_microbatches]


class _Dual(_Counted):
    """a whole backward counts as both of its halves; weights wait in a queue"""

    def __init__(self):
        super().__init__()
        self._weights = []

    def backward(self, kind, stage):
        mb = self.next(BACKWARD_INPUT, stage)
        if kind == BACKWARD_INPUT:
            self._weights.append((stage, mb))
        self.order.append(_Action(stage, kind, mb))

    def weight(self):
        if self._weights:
            stage, mb = self._weights.pop(0)
            self.order.append(_Action(stage, BACKWARD_WEIGHT, mb))

    def overlapped(self, forward, backward):
        subs = (
            _Action(forward, FORWARD, self.next(FORWARD, forward)),
            _Action(backward, FULL_BACKWARD, self.next(BACKWARD_INPUT, backward)),
        )
        self.order.append(_Action(-1, OVERLAP_F_B, None, subs))


def dual_pipe_v_order(rank, ranks, n_microbatches):
    """Source: ScheduleDualPipeV, its steps 1 to 8"""
    first, second, made = rank, 2 * ranks - 1 - rank, _Dual()
    behind = ranks - rank - 1
    for _ in range(2 * behind):
        made.add(FORWARD, first)
    for _ in range(rank + 1):
        made.add(FORWARD, first)
        made.add(FORWARD, second)
    for _ in range(behind):
        made.backward(BACKWARD_INPUT, second)
        made.weight()
        made.add(FORWARD, second)
    for i in range(n_microbatches - 2 * ranks + rank + 1):
        if i == 0 and rank == ranks - 1:
            made.add(FORWARD, first)
            made.backward(FULL_BACKWARD, second)
        else:
            made.overlapped(first, second)
        made.overlapped(second, first)
    for _ in range(behind):
        made.backward(FULL_BACKWARD, second)
        made.overlapped(second, first)
    kind = FULL_BACKWARD
    for i in range(rank + 1):
        if i == (rank + 1) // 2 and rank % 2 == 1:
            kind = BACKWARD_INPUT
        made.backward(kind, second)
        if i == (rank + 1) // 2 and rank % 2 == 0:
            kind = BACKWARD_INPUT
        made.backward(kind, first)
    for _ in range(behind):
        made.weight()
        made.backward(kind, first)
    for _ in range(rank + 1):
        made.weight()
    return made.order


# ---- what goes between


def _coming_stages(actions):
    """the stages that are used next, each once"""
    coming = []
    for action in actions:
        for each in leaves(action):
            if each.stage_index not in coming:
                coming.append(each.stage_index)
                if action.sub_actions is None and len(coming) == _ACTIVE:
                    return coming
        if action.sub_actions is not None and len(coming) >= _ACTIVE:
            break
    return coming


def _with_sharding(actions):
    """parameters of the next stages gathered ahead, of stages that are not among them let go"""
    active, out = [], []
    for i, action in enumerate(actions):
        coming = _coming_stages(actions[i:])
        for stage in [s for s in sorted(active) if s not in coming]:
            active.remove(stage)
            out.append(_Action(stage, RESHARD))
        for stage in [s for s in coming if s not in active]:
            active.append(stage)
            out.append(_Action(stage, UNSHARD))
        out.append(action)
    return out + [_Action(stage, RESHARD) for stage in sorted(active)]


def _with_reduction(actions, n_microbatches):
    """gradients reduced after a stage's last backward"""
    counts, out = {}, []
    for action in actions:
        out.append(action)
        for each in leaves(action):
            stage = each.stage_index
            if each.computation_type in (FULL_BACKWARD, BACKWARD_WEIGHT):
                counts[stage] = counts.get(stage, 0) + 1
                if counts[stage] == n_microbatches:
                    out.append(_Action(stage, REDUCE_GRAD))
    return out


def with_communication(order, rank_of, num_stages, n_microbatches):
    """the same with what is sent and received: a sender puts the receiver's action into its order, so that no two ranks
    wait for each other. Source: torch.distributed.pipelining.schedules._add_send_recv"""
    left = {
        rank: _with_reduction(_with_sharding([a for a in actions if a is not None]), n_microbatches)
        for rank, actions in order.items()
    }
    done, out = {rank: set() for rank in left}, {rank: [] for rank in left}

    def neighbour(action):
        """(stage that gets the result, kinds of sending and receiving)"""
        stage, kind = action.stage_index, action.computation_type
        if kind == FORWARD and stage != num_stages - 1:
            target, kinds = stage + 1, (SEND_F, RECV_F)
        elif kind in (FULL_BACKWARD, BACKWARD_INPUT) and stage != 0:
            target, kinds = stage - 1, (SEND_B, RECV_B)
        else:
            return None
        return None if rank_of[target] == rank_of[stage] else (target, kinds)

    def is_ready(action, before):
        stage, kind, mb, _ = action
        if kind == FORWARD and stage != 0:
            return (stage, RECV_F, mb) in before or (stage - 1, FORWARD, mb) in before
        if kind in (FULL_BACKWARD, BACKWARD_INPUT) and stage != num_stages - 1:
            return (stage, RECV_B, mb) in before or any(
                [(stage + 1, each, mb) in before for each in (FULL_BACKWARD, BACKWARD_INPUT)]
            )
        return True

    while left:
        moved = False
        for rank in sorted(left):
            action = left[rank][0]
            if not all([is_ready(each, done[rank]) for each in leaves(action)]):
                continue
            moved = True
            left[rank].pop(0)
            if not left[rank]:
                del left[rank]
            out[rank].append(action)
            for each in leaves(action):
                stage, kind, mb, _ = each
                done[rank].add((stage, kind, mb))
                to = neighbour(each)
                if to is None:
                    continue
                target, (send, receive) = to
                for at, what, of in ((rank, send, stage), (rank_of[target], receive, target)):
                    out[at].append(_Action(of, what, mb))
                    done[at].add((of, what, mb))
        if not moved:
            raise AssertionError("Malformed compute schedule, can't schedule sends/recvs")
    return out
