# SPDX-License-Identifier: Apache-2.0
"""The second implementation of docs/spec/streams.md, written from the page."""
from spec_permutation import Permutation


class Lane:
    """All records of a lane, and what precedes each."""

    def __init__(self, case, number):
        sizes = case["partitions"][number::case["lanes"]]
        self.partitions = list(range(number, len(case["partitions"]), case["lanes"]))
        given = [0] * len(sizes)
        self.records = []
        self.before = []
        turn = 0
        while True:
            self.before.append((turn, list(given)))
            for _ in sizes:
                if given[turn] < sizes[turn]:
                    break
                turn = (turn + 1) % len(sizes)
            else:
                return
            self.records.append([self.partitions[turn], given[turn]])
            given[turn] += 1
            turn = (turn + 1) % len(sizes)

    def place(self, case, number, place):
        if case["window"] == 0:
            return self.records[place]
        first = place // case["window"] * case["window"]
        size = min(case["window"], len(self.records) - first)
        permutation = Permutation(size, case["seed"], first * case["lanes"] + number)
        return self.records[first + permutation.at(place - first)]


def order(case):
    lanes = [Lane(case, number) for number in range(case["lanes"])]
    places = []
    while True:
        number, place = len(places) % case["lanes"], len(places) // case["lanes"]
        if place >= len(lanes[number].records):
            return places
        places.append(lanes[number].place(case, number, place))


def state(case):
    result = []
    for number in range(case["lanes"]):
        lane = Lane(case, number)
        place = -((number - case["position"]) // case["lanes"])
        first = place // case["window"] * case["window"]
        if place >= len(lane.records):
            first = len(lane.records)
        turn, given = lane.before[first]
        result.append({"lane": number, "from": first, "turn": turn,
                       "cursors": [str(count) for count in given]})
    return result


def check_streams(vectors, check):
    for case in vectors["orders"]:
        check("order of a stream", order(case), case["order"])
    for case in vectors["states"]:
        check("state of a stream", state(case), case["state"])
