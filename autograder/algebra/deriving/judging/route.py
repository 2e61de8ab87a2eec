"""The way that the right lines of a derivation take to the result."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from autograder.algebra.deriving.judging.passages import Step
from autograder.algebra.deriving.judging.task import Task
from autograder.algebra.deriving.judging.waypoint import Waypoint
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.line import Line


class Route:
    """The way that the right lines of a derivation take to the result.

    Attributes
    ----------
    counted : list of Step
        The steps from right lines to right ones that count, sound or skipped.
    followed : list of Step
        The sound steps from one wrong line to the next, which go on from a slip.
    shown : list of Waypoint
        What a right line shows before the result is there.
    jump : Step or None
        The step that gives the result at once, where something is to be shown between.
    forced : Step or None
        The step that puts the target behind a slip.
    """

    def __init__(self, task: Task, steps: Sequence[Step]) -> None:
        self.task = task
        self.counted: list[Step] = []
        self.followed = _followed(task, steps)
        self.shown: list[Waypoint] = []
        self.jump: Step | None = None
        self.forced: Step | None = None
        self._polished = self._left = False
        self._arrival: Step | None = None  # the first step to the result
        self._resumed: Line | None = None  # the line by which a slip was left, if that says more
        for step in steps:
            if step.goes_on:
                self._note(step.line)
        self._go(self._with_substance(_without_circles(task.given, steps)))
        self._gather()

    @property
    def missing(self) -> list[Waypoint]:
        """What no right line shows on the way."""
        return [waypoint for waypoint in self.task.asked.waypoints if waypoint not in self.shown]

    def _go(self, path: Sequence[Step]) -> None:
        task = self.task
        before, new_before = task.given, False
        for step in path:
            leaps = self._leaps(before, step, path[-1].line)
            if step.forced:
                self.forced = step
                if not (step.strays or leaps):
                    self.counted.append(step)
                return
            if leaps:
                self._jump_by(step)
                if not (task.asked.waypoints or task.rules or self._says_the_result(step.line)):
                    self._polish(path[-1])
                return
            new = self._note(step.line) if not self._arrival else []
            idle = not (new or new_before) and self._adds_nothing(before, step.line)
            self._take(step, idle=idle or step.strays)
            before, new_before = step.line, bool(new)
            if step.back and task.rules and not task.disguises.adds_nothing(task.given, step.line):
                self._resumed = step.line
        if len(self.counted) == 1 and self._arrival and not self._arrival.strays:
            (step,) = self.counted  # to the result, as it turned out, if in disguise
            if not self.shown and task.asked.min_lines > 2:
                self._jump_by(step)

    def _adds_nothing(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before in disguise; so is the result, without what goes out."""
        task = self.task
        again = task.end.is_target(before) and task.rules.pads(line, before)
        return again or task.disguises.adds_nothing(before, line)

    def _with_substance(self, path: Sequence[Step]) -> list[Step]:
        """Return the steps whose lines say something: more than the lines around them say."""
        task, kept = self.task, list[Step]()
        says, reasons = task.disguises, task.reasons
        before, mixed = task.given, False
        ends = (task.given, task.result, *(step.line for step in path[-1:]))
        for place, step in enumerate(path):
            line = step.line
            others = (s.line for s in path[place + 1 :] if s.line.essence != line.essence)
            after = next(others, task.result)
            alike = before.essence == line.essence
            if says.repeats(before, line) or (not alike and says.mixes(line, task.given, before)):
                if not task.bridges(line, after):
                    continue
            elif self._is_padding(before, path[place:]) or (
                step is not path[-1]
                and says.mixes(line, *ends, before)
                and not task.end.is_target(line)
            ):
                mixed = True
                continue
            if mixed:  # how it came from the mixture says nothing
                step = replace(step, before=before, doubt=reasons.unjustified(before, line))
            kept.append(step)
            before, mixed = line, False
        said = [*itertools.takewhile(lambda step: not self._says_the_result(step.line), kept)]
        rest = kept[len(said) :]
        if said and self._say_the_start([step.line for step in said], rest):
            return [self._from_the_start(step) for step in rest[:1]] + rest[1:]
        return kept

    def _is_padding(self, before: Line, steps: Sequence[Step]) -> bool:
        """Whether the first of some lines is the one before with what goes out, and leads nowhere.

        Where no rule leads from that line to the next that says more, or one does from the line
        before as well, nothing is done by it.
        """
        task, line = self.task, steps[0].line
        if not task.rules.pads(before, line):
            return False
        more = (s for s in steps[1:] if not task.rules.pads(before, s.line))
        step = next(more, None)
        if step is None or step.skips:
            return True
        direct = task.reasons.unjustified(before, step.line)
        return direct is None or direct.kind != "skipped"

    def _say_the_start(self, lines: Sequence[Line], rest: Sequence[Step]) -> bool:
        """Whether lines before the result are the start but for names.

        Where all names are put in that must go, there is a step between, if algebra leads on.
        """
        task = self.task
        if all(map(task.named.says_the_start, lines)):
            return True
        named = rest and not task.rules and not task.comparison.is_routine(lines[-1], rest[0].line)
        return bool(named) and all(task.named.is_but_for_names(line, task.given) for line in lines)

    def _says_the_result(self, line: Line) -> bool:
        task = self.task
        return task.end.is_target(line) or task.named.is_but_for_names(line, task.result)

    def _from_the_start(self, step: Step) -> Step:
        given = self.task.given
        return replace(step, before=given, doubt=self.task.reasons.unjustified(given, step.line))

    def _jump_by(self, step: Step) -> None:
        self.jump = self._arrival = step
        self.counted = [step]

    def _polish(self, last: Step) -> None:
        """Count the last step behind a jump, if it leads from one form of the result to another."""
        (jump,) = self.counted
        again = last is jump or self.task.disguises.adds_nothing(jump.line, last.line)
        if not again and self.task.end.is_result(last.line):
            self.counted.append(last)

    def _leaps(self, before: Line, step: Step, last: Line) -> bool:
        """Whether a line is the result, by itself or in disguise, before anything is shown."""
        task = self.task
        if self._arrival or self.counted or self.shown or task.asked.min_lines < 3:
            return False
        if step.before is self._resumed:  # behind a slip, by a step that can be held to a rule
            return False
        if task.end.leaps(before, step.line) or (
            step.skips and task.reasons.is_all_but_said(step.line)
        ):
            return True
        away = task.end.is_result(step.line) and not task.end.is_result(last)  # it goes backwards
        if away and (step.skips or not task.rules):
            return True
        if not self._arrives_at_once(before, step.line) or task.bridges(step.line, before):
            return False
        foreign = step.line.written_names & task.given.written_names - task.result.written_names
        # What is asked for, beside the result as it stands, may be any zero that shows it.
        beside = structures.holds(step.line.structure, task.result.structure)
        shows = not beside and any(waypoint.reached(step.line) for waypoint in self.missing)
        return not (shows and task.ends.is_rid_of(foreign))

    def _arrives_at_once(self, before: Line, line: Line) -> bool:
        """Whether a line is the result, or that with names put in, which algebra doesn't give.

        By rules, a step to such a line is held to these.
        """
        task = self.task
        if task.end.is_target(line) or task.rules:
            return task.end.is_target(line)
        more = bool(task.asked.waypoints) or not task.comparison.is_routine(before, line)
        return more and task.named.is_but_for_names(line, task.result)

    def _note(self, line: Line) -> list[Waypoint]:
        """Return what this line is the first one to show."""
        new = [waypoint for waypoint in self.missing if waypoint.reached(line)]
        self.shown += new
        return new

    def _take(self, step: Step, *, idle: bool) -> None:
        task = self.task
        arrives = task.end.is_target(step.line) if task.rules else task.end.is_result(step.line)
        if self._arrival:
            # What comes after the result: one step to another form of it may count, no more.
            self._left = self._left or not arrives
            if not (idle or self._left or self._polished):
                self._polished = True
                self.counted.append(step)
            return
        self._arrival = step if arrives else None
        if not idle:
            self.counted.append(step)

    def _gather(self) -> None:
        """Let all that algebra alone does count as one step, where another one skips something.

        Else a jump would be dear or cheap as one likes: lines can be rewritten for ever.  So can a
        wrong one be, where nothing right is shown.
        """
        sound = [step for step in self.counted if step.worth and step is not self.jump]
        if not sound:
            self.followed = self._gathered(self.followed, self.followed)
        skips = [step for step in self.counted if step.skips]
        if self.task.rules and skips:
            self.counted = self._gathered(self.counted, [s for s in self.counted if s.worth])
            worth = [step for step in self.counted if step.worth]
            if not (self.followed or any(map(self._shows_more, worth))):
                self._jump_by(skips[0])

    def _shows_more(self, step: Step) -> bool:
        """Whether a step is more than algebra, or names put into the given expression."""
        task = self.task
        return not (self._is_routine(step) or task.named.is_but_for_names(step.line, task.given))

    def _gathered(self, steps: list[Step], sound: Sequence[Step]) -> list[Step]:
        """Return steps without those sound ones that algebra alone does, but for the first."""
        routine = [step for step in sound if self._is_routine(step)]
        return [step for step in steps if step not in routine[1:]]

    def _is_routine(self, step: Step) -> bool:
        task = self.task
        named = task.named.is_but_for_names(step.before, task.result)
        return named or task.comparison.is_routine(step.before, step.line)


def _without_circles(given: Line, steps: Sequence[Step]) -> list[Step]:
    """Return the steps to right lines, without those between two lines that are the same."""
    path: list[Step] = []
    places = {given.structure: 0}
    for step in steps:
        if not step.true:
            continue
        place = places.get(step.line.structure)
        if place is None:
            path.append(step)
            places[step.line.structure] = len(path)
        else:
            del path[place:]
            places = {form: at for form, at in places.items() if at <= place}
    return path


def _followed(task: Task, steps: Sequence[Step]) -> list[Step]:
    sound, polished = [], False
    for step in steps:
        if (
            step.true
            or not step.verdict.equal
            or task.disguises.adds_nothing(step.before, step.line)
        ):
            continue
        if task.end.is_result(step.before) and task.end.is_result(step.line):
            if polished:
                continue
            polished = True
        sound.append(step)
    return sound
