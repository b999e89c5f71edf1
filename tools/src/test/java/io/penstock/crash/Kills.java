// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import io.penstock.crash.CallShim.Action;
import io.penstock.crash.CallShim.Kind;
import io.penstock.device.cuda.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** Kills processes that write, before and after calls. */
final class Kills {

    /** What a shell says of a process that SIGKILL ended. */
    private static final int KILLED = 128 + 9;

    private final Scene scene;
    private final Tally tally;

    Kills(Scene scene, Tally tally) {
        this.scene = scene;
        this.tally = tally;
    }

    /** Kills a process at a call, and opens what is left. */
    void kill(Path inputs, long number, Action action) throws IOException, InterruptedException {
        scene.reset();
        ChildJvm.Result result = new ChildJvm().variable(CallShim.PRELOAD, System.getenv(CallShim.PRELOAD))
                .run(CrashProgram.class, "die", inputs.toString(), scene.writer().name(),
                        Boolean.toString(scene.replacing()), scene.folder().toString(), Long.toString(number),
                        action.toString());
        String trial = action + " call " + number;
        if (result.exitCode() != KILLED) {
            tally.lose(trial, "ended with " + result.exitCode() + ": " + result.output());
            return;
        }
        tally.count("kills", 1);
        tally.lose(trial, scene.check(false));
        tally.lose(trial, scene.again());
    }

    /** In the process that is killed: writes, and does not return. */
    static void die(Writer writer, boolean replacing, Path folder, long number, Action action) throws Exception {
        CallShim.watch(folder);
        CallShim.plan(action, Kind.ALL, number, 0, Set.of());
        writer.write().write(folder, 2, replacing);
    }
}
