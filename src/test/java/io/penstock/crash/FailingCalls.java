// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import io.penstock.crash.CallShim.Action;
import io.penstock.crash.CallShim.Kind;
import io.penstock.error.PenstockException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Fails each call of a writer in turn, in each of several ways. */
final class FailingCalls {

    /** How a call fails. */
    private enum Fault {
        /** The disk has an error at one call, whatever it is. */
        EIO(Action.FAIL, Kind.ALL, CallShim.EIO, Set.of()),
        /** The disk has errors from one call on. */
        EIO_FROM_THERE(Action.FAIL, Kind.ALL, CallShim.EIO, Kind.ALL),
        /** The disk is full at one call, and then somebody makes room. */
        ENOSPC(Action.FAIL, TAKING_SPACE, CallShim.ENOSPC, Set.of()),
        /** The disk is full from one call on. */
        ENOSPC_FROM_THERE(Action.FAIL, TAKING_SPACE, CallShim.ENOSPC, TAKING_SPACE),
        /** A write writes half of what it was given. */
        SHORT(Action.SHORTEN, EnumSet.of(Kind.WRITE), 0, Set.of()),
        /** A write fills the disk by half of what it was given. */
        SHORT_THEN_ENOSPC(Action.SHORTEN, EnumSet.of(Kind.WRITE), CallShim.ENOSPC, TAKING_SPACE);

        private final Action action;
        private final Set<Kind> kinds;
        private final int errno;
        private final Set<Kind> stickyKinds;

        Fault(Action action, Set<Kind> kinds, int errno, Set<Kind> stickyKinds) {
            this.action = action;
            this.kinds = kinds;
            this.errno = errno;
            this.stickyKinds = stickyKinds;
        }
    }

    private static final Set<Kind> TAKING_SPACE = EnumSet.of(Kind.CREATE, Kind.WRITE, Kind.TRUNCATE, Kind.SYNC,
            Kind.RENAME, Kind.LINK, Kind.MKDIR);

    private final Scene scene;
    private final Tally tally;

    FailingCalls(Scene scene, Tally tally) {
        this.scene = scene;
        this.tally = tally;
    }

    /**
     * Does it.
     *
     * @param eio how many calls fail once with EIO, at most; the seed chooses which
     * @param others how many fail in each of the other ways, at most
     */
    void run(SplittableRandom random, int eio, int others) throws Exception {
        Map<Set<Kind>, Long> callsOfKinds = new HashMap<>();
        for (Fault fault : Fault.values()) {
            int most = fault == Fault.EIO ? eio : others;
            if (!callsOfKinds.containsKey(fault.kinds)) {
                callsOfKinds.put(fault.kinds, calls(scene, fault.kinds));
            }
            long calls = callsOfKinds.get(fault.kinds);
            LongStream numbers = calls <= most ? LongStream.rangeClosed(1, calls)
                    : random.longs(1, calls + 1).distinct().limit(most);
            for (long number : numbers.toArray()) {
                fail(fault, number);
            }
        }
    }

    /** How many calls of some kinds the writer makes, undisturbed. */
    static long calls(Scene scene, Set<Kind> kinds) throws Exception {
        scene.reset();
        CallShim.watch(scene.folder());
        CallShim.plan(Action.PASS, kinds, 0, 0, Set.of());
        scene.write();
        long calls = CallShim.calls();
        CallShim.watch(null);
        return calls;
    }

    private void fail(Fault fault, long number) throws IOException {
        scene.reset();
        CallShim.watch(scene.folder());
        CallShim.plan(fault.action, fault.kinds, number, fault.errno, fault.stickyKinds);
        Throwable failure = null;
        try {
            scene.write();
        } catch (Exception | Error e) {
            failure = e;
        }
        String call = CallShim.fired();
        CallShim.watch(null);
        if (call == null) {
            if (failure != null) {
                tally.lose("undisturbed", failure.toString());
            }
            return;
        }
        tally.count("calls", 1);
        String trial = fault + " at call " + number + " (" + call + ")";
        tally.lose(trial, scene.check(failure == null && scene.writer().promise() != Writer.Promise.NOTHING));
        // Where nothing is promised, it is the reader that fails, and not the writer.
        if (failure != null && scene.writer().promise() != Writer.Promise.NOTHING) {
            tally.lose(trial, unnamed(failure));
        }
        tally.lose(trial, scene.again());
    }

    /** What is wrong with a failure's message. */
    private String unnamed(Throwable failure) {
        if (!(failure instanceof IOException) && !(failure instanceof UncheckedIOException)
                && !(failure instanceof PenstockException)) {
            return "failed with " + failure;
        }
        String message = String.valueOf(failure.getMessage());
        if (message.contains("internal error")) {
            return "failed with " + message.strip();
        }
        for (String file : scene.writer().files()) {
            if (message.contains(scene.folder() + "/" + file)) {
                return null;
            }
        }
        return "the message names no file of " + scene.writer().files() + ": " + message.strip();
    }
}
