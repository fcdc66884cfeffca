"""Scenarios and their tools. Each file in scenarios/ registers its own:

    @scenario("client killed: send", parts=2)
    def send(part): ...

    @control("a network that forgets what it took", must="LOST")
    def forgetful(part): ...

A part is one independent piece of a scenario's work, with a seed of its own. Its row says what it injected and what the
oracle complained of. A control is a scenario that must fail: its row is good when the oracle complained of what it did.
"""

import collections
import dataclasses
import functools
import importlib
import pathlib
import random
import shutil
import tempfile

import place as places

WORDS = ("LOST", "DUP", "ORDER", "GONE", "ALIVE", "CLEAN")
# So many faults and more take every call of every sweep; fewer take one of several.
ALL = 20_000
SCENARIOS = {}


class Skip(Exception):
    """Says why this machine cannot do a scenario."""


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    run: object
    parts: int
    # The word that the oracle has to say; None where it has to be silent.
    must: str | None
    # How much of the faults that are to be injected this one takes that has no end of its own.
    weight: float
    # Whether it is left out unless it is named, since it takes a time of its own.
    is_extra: bool


def scenario(name, parts=1, weight=0.0, extra=False, **given):
    """Registers a function of a part, and of what is `given`."""
    return lambda run: register(Scenario(name, functools.partial(run, **given), parts, None, weight, extra)) and run


def control(name, must):
    return lambda run: register(Scenario("control: " + name, run, 1, must, 0.0, False))


def until_complaint(part):
    """The rounds of a control that cuts the power behind a sync that did nothing: the kernel may have written it meanwhile.
    They end when the oracle has complained of what the control must fail with."""
    for number in range(20):
        if any(complaint.startswith(part.scenario.must) for complaint in part.complaints):
            return
        yield number


def register(made):
    if made.name in SCENARIOS:
        raise ValueError(f"two scenarios are called {made.name}")
    SCENARIOS[made.name] = made
    return made.run


def load():
    for path in sorted((pathlib.Path(__file__).parent / "scenarios").glob("*.py")):
        importlib.import_module("scenarios." + path.stem)
    return SCENARIOS


class Part:
    """One part of a scenario: its chance, its places, and what it counts."""

    # A sweep that does not end is a fault of the scenario.
    LONGEST = 20_000

    def __init__(self, scenario, number, parts, seed, faults):
        self.scenario, self.number, self.parts = scenario, number, parts
        self.seed, self.faults = seed, faults
        self.random = random.Random(f"{seed} {scenario.name} {number}")
        self.step = max(1, ALL // max(1, faults))
        self.injected = self.taken = 0
        self.complaints, self.places, self.notes = [], [], collections.Counter()

    @property
    def quota(self):
        """The number of faults for this part, if its scenario has no natural end."""
        return max(5, round(self.faults * self.scenario.weight / self.parts))

    def chance(self, who):
        """A source of chance for one of several threads."""
        return random.Random(f"{self.seed} {self.scenario.name} {self.number} {who}")

    def place(self, network="local", directory=None):
        """A spool of its own in a new directory, or below `directory`, that publishes to this network."""
        made = places.Place(tempfile.mkdtemp(prefix="photospool-torture."), directory, self)
        self.places.append(made)
        made.make()
        made.connect(network)
        return made

    def rounds(self, place, count):
        """The numbers of so many rounds in all parts; of fewer, but two, with fewer faults."""
        for number in range(max(2, count // self.step // self.parts)):
            place.context = f"round {number}"
            yield number

    def sweep(self, once, cheap=1, dear=1):
        """Calls `once(k)` for the k's of this part, as long as it says that the run met the k-th call. Where calls are
        skipped, a sweep that is `cheap` times as cheap as others skips fewer. One that is `dear` times as dear takes one call
        of `dear` at most, and every call only from `dear` times `ALL` faults on.

        Returns how many faults that were."""
        step = max(dear * ALL // max(ALL, self.faults), self.step // cheap, 1)
        # The offset is the same for all parts: together they take every `step`-th call.
        offset = random.Random(f"{self.seed} {self.scenario.name}").randrange(step)
        met, k = 0, 1 + offset + self.number * step
        while k < self.LONGEST and once(k):
            met += 1
            self.fault(kind="killed")
            k += step * self.parts
        return met

    def sweep_alone(self, once, step, kind="killed"):
        """Calls `once(k)` for every `step`-th k, whatever the other parts do, as long as it says that the run met the call."""
        k = 1 + self.random.randrange(step)
        while once(k):
            self.fault(kind=kind)
            k += step

    def fault(self, count=1, kind=None):
        self.injected += count
        if kind:
            self.notes[kind] += count

    def accepted(self, count=1):
        self.taken += count

    def complain(self, word, sentence):
        if word not in WORDS:
            raise ValueError(f"{word} is no word of the oracle")
        self.complaints.append(f"{word} {sentence}")

    def judge(self, place, **expectations):
        """Has the oracle judge an idle place, and counts its complaints. Returns whether there were none."""
        import oracle

        accepted, complaints = oracle.judge(place, **expectations)
        self.accepted(accepted)
        self.complaints += [f"{complaint} [{place.context}]" for complaint in complaints]
        return not complaints

    def outlived(self, place, daemon, k, mend=lambda: None):
        """Waits until a daemon that is to be killed at its k-th call is done or dead. If it was killed, `mend()` and
        another start follow. The oracle looks. Returns whether it was killed."""
        place.wait_idle(daemon, or_dead=True)
        status = daemon.stop()
        place.context += f", {place.call(k)}"
        if status != 0:
            mend()
            place.settle()
        self.judge(place)
        return status != 0

    def killed_and_again(self, place, k, *command):
        """Runs a command that is killed at its k-th call, and runs it again. Returns whether it was killed."""
        killed = place.photospool(*command, environment=place.killing(k))
        place.context += f", {place.call(k)}"
        again = place.photospool(*command)
        for done, expected in ((killed, (0, -9)), (again, (0,))):
            if done.returncode not in expected:
                self.complain("ALIVE", f"{command[0]} ended with {done.returncode}: {done.stderr[-200:]} [{place.context}]")
        return killed.returncode != 0

    def end(self):
        """Ends the processes of the places, and removes the places unless they are to be kept."""
        for place in self.places:
            place.end()
            if not self.complaints or self.scenario.must:
                shutil.rmtree(place.path, ignore_errors=True)
                if place.root != place.path:
                    shutil.rmtree(place.spool, ignore_errors=True)
