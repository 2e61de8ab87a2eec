"""What it costs to find an answer by trying, for every part that may offer a look.

    python bench/looks.py [--out bench/results/looks.json]

For each part whose answers are numbers: how many answers are plausible to somebody who knows what
answers look like (autograder/course/release/looking.py says how that is estimated), and for those
that a look is offered of the days that one processor tries them all, as fast as check.py does.
"""

import argparse
import json
import time
from pathlib import Path

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.release.drawing import drawn
from autograder.course.release.looking import LEAST, offered, plausible
from autograder.student.looks import KEYS, key_of

ROOT = Path(__file__).parents[1]
DAY = 24 * 3600


def seconds_per_try(number=20):
    """Return the processor time of a wrong answer, all of whose keys are tried."""
    before = time.process_time()
    for each in range(number):
        key_of("place", "", "1,2,3", each)
    return (time.process_time() - before) / number * KEYS


def main():
    """Estimate for all parts, and print those that are offered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the results here, as JSON")
    args = parser.parse_args()
    course, seconds = Course.load(ROOT), seconds_per_try()
    found, few = {}, {}
    for id in course.ids():
        for name, exercise in load_assignment(course, id).sound.items():
            numbers = [p.name for p in exercise.parts if p.answer.kind in ("numbers", "count")]
            if not numbers or exercise.draw is None:
                continue
            variants = drawn(exercise, course.id)
            there, tries = offered(exercise, variants), plausible(exercise, variants)
            for part in numbers:
                if part in there:
                    days = there[part] * seconds / DAY
                    found[f"{id[:3]}/{name}.{part}"] = {
                        "plausible": float(f"{there[part]:.3g}"),
                        "days": float(f"{days:.3g}"),
                    }
                else:
                    few[f"{id[:3]}/{name}.{part}"] = float(f"{tries[part]:.3g}")
    for name, entry in sorted(found.items(), key=lambda each: each[1]["plausible"]):
        print(f"{name:40} {entry['plausible']:8.1e} answers, {entry['days']:8.1e} days")
    print(
        f"{len(found)} parts of {len(found) + len(few)} with numbers offer a look: {LEAST:.0e} "
        f"plausible answers or more, {seconds:.2f} s for each"
    )
    if args.out:
        results = {"seconds_per_try": round(seconds, 3), "offered": found, "too_few": few}
        args.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
