#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes examples/corpus: a small corpus of made-up prose, the same on every run.

Sentences are drawn from a grammar with a fixed seed, so the text is nobody's work and anybody's to use.
"""
import json
import pathlib
import random

NOUNS = """river valley turbine engineer keeper mill lantern bridge harbour ledger orchard kettle compass weather morning
storm letter garden station signal meadow canal clock workshop ferry lighthouse quarry market teacher captain miller
carpenter apprentice widow traveller child neighbour winter summer evening stone wheel gate tunnel pressure current
stream spring reservoir hillside village road timber iron copper rope basket window door stair kitchen map journal story
song silence rumour bargain promise answer question mistake habit pattern measure weight number shadow light smoke frost
rain snow thaw flood drought harvest seed soil root branch leaf bird heron otter trout dog horse cart boat oar sail""".split()
PLACES = """Aldermoor Brackwater Coldharbour Dunmere Eastferry Fallowfield Greystone Highweir Ivelbridge Kestrel-on-the-Hill
Longmeadow Millbrook Northgate Oxley Pendle Quarrybank Ravenscar Saltmarsh Thornby Upperlock Westering Yarrow""".split()
NAMES = """Ada Bertram Clara Dorothea Edmund Florence Gilbert Harriet Isaac Josephine Konrad Lydia Matthias Nora Oswald
Philippa Quentin Rosalind Silas Theodora Ulrich Verity Walter Yvonne""".split()
VERBS = """carried mended measured followed remembered watched opened closed lifted counted painted drew answered asked
found lost kept borrowed returned sold bought described studied weighed turned raised lowered crossed left reached
repaired sounded tested trusted doubted forgot noticed copied marked hid showed praised warned greeted""".split()
STATES = """quiet slow cold bright heavy narrow patient stubborn careful restless ancient hollow silver crooked ordinary
curious distant familiar broken steady clever weary honest sudden gentle bitter pale deep shallow crowded empty""".split()
ADVERBS = ["slowly", "at once", "before dawn", "with some care", "without a word", "twice a year", "in the rain",
           "by lamplight", "once again", "as usual", "for the last time", "more than once", "in silence",
           "with both hands", "against all advice", "until noon", "every spring", "behind the mill", "after supper"]
JOINS = ["and", "but", "because", "while", "although", "so that", "until", "before", "since", "as if"]
UNITS = ["metres", "miles", "barrels", "shillings", "hours", "tonnes", "cubits", "paces", "litres a second"]


class Prose:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, words):
        return words[min(int(self.random.expovariate(3.0 / len(words))), len(words) - 1)] \
            if self.random.random() < 0.6 else self.random.choice(words)

    def thing(self, depth=0):
        r = self.random.random()
        noun = self.pick(NOUNS)
        if r < 0.30:
            return f"the {noun}"
        if r < 0.55:
            return f"the {self.pick(STATES)} {noun}"
        if r < 0.65 and depth < 2:
            return f"the {noun} of {self.thing(depth + 1)}"
        if r < 0.75:
            return f"a {self.random.choice(['small', 'certain', 'new', 'long', 'second'])} {noun}"
        if r < 0.88:
            return self.pick(NAMES)
        return f"the {noun} at {self.pick(PLACES)}"

    def clause(self):
        r = self.random.random()
        if r < 0.55:
            text = f"{self.thing()} {self.pick(VERBS)} {self.thing()}"
        elif r < 0.75:
            text = f"{self.thing()} was {self.pick(STATES)}"
        elif r < 0.88:
            text = f"there were {self.random.randint(2, 4800)} {self.random.choice(UNITS)} between " \
                   f"{self.pick(PLACES)} and {self.thing()}"
        else:
            text = f"nobody {self.pick(VERBS)} {self.thing()}"
        if self.random.random() < 0.35:
            text += " " + self.random.choice(ADVERBS)
        return text

    def sentence(self):
        r = self.random.random()
        text = self.clause()
        if r < 0.35:
            text += f", {self.random.choice(JOINS)} {self.clause()}"
        elif r < 0.45:
            text += f"; {self.clause()}"
        elif r < 0.55:
            text = f"in {self.random.randint(1780, 1931)}, {text}"
        if 0.55 <= r < 0.67:
            said = self.sentence_case(self.clause())
            return f"\u201c{said},\u201d said {self.pick(NAMES)}, \u201c{self.random.choice(JOINS)} {self.clause()}.\u201d"
        return self.sentence_case(text) + (self.random.choice("?!") if r > 0.96 else ".")

    @staticmethod
    def sentence_case(text):
        return text[0].upper() + text[1:]

    def paragraph(self, low=3, high=9):
        return " ".join(self.sentence() for _ in range(self.random.randint(low, high)))

    def chapters(self, title, count, size):
        parts = [title.upper(), ""]
        for chapter in range(1, count + 1):
            parts += [f"Chapter {chapter}. Of {self.thing()}", ""]
            for _ in range(size):
                parts += [self.paragraph(), ""]
        return "\n".join(parts)


def main():
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for seed, (name, title, count, size) in enumerate([
            ("almanac.txt", "An almanac of the upper valley", 8, 18),
            ("keeper.txt", "The keeper of the high weir", 10, 17),
            ("travels.txt", "Travels along the canal", 7, 16)]):
        (folder / name).write_text(Prose(seed).chapters(title, count, size), encoding="utf-8", newline="\n")
    letters = Prose(99)
    with open(folder / "letters.jsonl", "w", encoding="utf-8", newline="\n") as out:
        for number in range(1, 121):
            text = f"{letters.pick(PLACES)}, {letters.random.randint(1, 28)} March\n\nDear {letters.pick(NAMES)},\n\n"
            text += "\n\n".join(letters.paragraph(1, 5) for _ in range(letters.random.randint(1, 4)))
            text += f"\n\nYours, {letters.pick(NAMES)}\n"
            out.write(json.dumps({"id": number, "text": text}, ensure_ascii=number % 2 == 0) + "\n")


if __name__ == "__main__":
    main()
