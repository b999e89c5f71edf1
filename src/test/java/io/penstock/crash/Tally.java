// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What was tried on a scene, and what was lost. */
final class Tally {

    private final String scene;
    private final Map<String, Long> counts = new LinkedHashMap<>();
    private final List<String> losses = new ArrayList<>();

    Tally(Object scene) {
        this.scene = scene.toString();
    }

    void count(String what, long more) {
        counts.merge(what, more, Long::sum);
    }

    /** Notes a loss, unless nothing is wrong. */
    void lose(String trial, String wrong) {
        if (wrong != null) {
            losses.add(scene + ": " + trial + ": " + wrong);
        }
    }

    String scene() {
        return scene;
    }

    long count(String what) {
        return counts.getOrDefault(what, 0L);
    }

    List<String> losses() {
        return losses;
    }
}
