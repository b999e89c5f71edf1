// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Statuses of ranks that did not run. */
public final class Statuses {

    private Statuses() {
    }

    /** A status whose step is the sum of its parts: alternating names and milliseconds. */
    public static RankStatus of(int rank, int worldSize, double exchangeMillis, Object... parts) {
        Map<String, Double> millis = new LinkedHashMap<>();
        for (int i = 0; i < parts.length; i += 2) {
            millis.put((String) parts[i], ((Number) parts[i + 1]).doubleValue());
        }
        double step = millis.values().stream().mapToDouble(value -> value).sum();
        List<RankStatus.StepPart> list = new ArrayList<>();
        millis.forEach((name, value) -> list.add(new RankStatus.StepPart(name, value)));
        return new RankStatus("gpt", rank, worldSize, "node" + rank / 8, 4000 + rank, 1_000_000, 500, 0.1, "", 47,
                1e3 / step, 32e3 / step, step, list, exchangeMillis, 36, "Simulated", 0.9, 20e9, 80e9, 3e9);
    }

    static Peers.Reply answer(RankStatus... statuses) {
        return new Peers.Reply("here", List.of(statuses), "");
    }

    /** The same, said at another time. */
    static RankStatus at(RankStatus status, long millis) {
        return new RankStatus(status.run(), status.rank(), status.worldSize(), status.host(), status.pid(), millis,
                status.step(), status.idleSeconds(), status.doing(), status.window(), status.stepsPerSecond(),
                status.samplesPerSecond(), status.stepMillis(), status.parts(), status.exchangeMillis(),
                status.waitedSeconds(), status.gpu(), status.gpuUtilization(), status.gpuMemoryBytes(),
                status.gpuTotalBytes(), status.residentBytes());
    }

    /** The same, without a step for some seconds. */
    static RankStatus idle(RankStatus status, double seconds, String doing) {
        return new RankStatus(status.run(), status.rank(), status.worldSize(), status.host(), status.pid(),
                status.atMillis(), status.step(), seconds, doing, status.window(), status.stepsPerSecond(),
                status.samplesPerSecond(), status.stepMillis(), status.parts(), status.exchangeMillis(),
                status.waitedSeconds(), status.gpu(), status.gpuUtilization(), status.gpuMemoryBytes(),
                status.gpuTotalBytes(), status.residentBytes());
    }
}
