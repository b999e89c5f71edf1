#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a table of ads that were shown and maybe clicked: make_clicks.py FILE [ROWS]. The same rows each time."""

import math
import os
import random
import sys

SITES = ["news", "mail", "maps", "games", "shop", "wiki", "video", "forum", "weather", "recipes"]
ADS = ["shoes", "phones", "travel", "insurance", "books", "bikes", "coffee", "courses"]
DEVICES = ["phone", "tablet", "desktop"]


def main(path, rows=200_000):
    r = random.Random(20260101)
    site_taste = {site: r.gauss(0, 0.5) for site in SITES}
    ad_taste = {ad: r.gauss(0, 0.5) for ad in ADS}
    pair_taste = {(site, ad): r.gauss(0, 1.0) for site in SITES for ad in ADS}
    users = [("u%05d" % number, r.gauss(0, 0.8), r.randrange(16, 80)) for number in range(5000)]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as out:
        out.write("click,user,site,ad,device,hour,age,seconds\n")
        for _ in range(int(rows)):
            user, taste, age = r.choice(users)
            site, ad, device = r.choice(SITES), r.choice(ADS), r.choice(DEVICES)
            hour, seconds = r.randrange(24), r.expovariate(1 / 30)
            logit = (-2.2 + taste + site_taste[site] + ad_taste[ad] + pair_taste[site, ad] + 0.02 * (age - 45)
                     + 0.3 * math.log1p(seconds / 30) + (0.4 if device == "phone" else 0))
            click = int(r.random() < 1 / (1 + math.exp(-logit)))
            shown_age = "NA" if r.random() < 0.1 else str(age)
            out.write(f"{click},{user},{site},{ad},{device},{hour},{shown_age},{seconds:.2f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
