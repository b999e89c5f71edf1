// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Opens what is left when the power goes between two calls of a writer, for each such moment: as ALICE does (Pillai et
 * al., "All File Systems Are Not Created Equal", OSDI 2014). {@link Disk} says what may be lost. Of what may be:
 * <ul>
 * <li>nothing is lost (which is also what a kill leaves);
 * <li>all is lost;
 * <li>the data is lost, with or without the sizes of files, and no name;
 * <li>the names are lost, and no data;
 * <li>each single change is lost, with those that need it;
 * <li>each single change is there, with those that it needs;
 * <li>subsets that a seed chooses are lost.
 * </ul>
 */
final class PowerLoss {

    private final Scene scene;
    private final Tally tally;
    private final SplittableRandom random;
    private final int singles;
    private final int subsets;
    private final double shareWrittenOver;
    private final Set<String> seen = new HashSet<>();
    private final List<Tree> killed = new ArrayList<>();

    /**
     * Replays of a scene.
     *
     * @param singles how many single changes are lost, and are there, at most, at each moment
     * @param subsets how many subsets are lost at each moment
     * @param shareWrittenOver so many of the states are written over, from 0 to 1, to see what is left behind
     */
    PowerLoss(Scene scene, Tally tally, SplittableRandom random, int singles, int subsets, double shareWrittenOver) {
        this.scene = scene;
        this.tally = tally;
        this.random = random;
        this.singles = singles;
        this.subsets = subsets;
        this.shareWrittenOver = shareWrittenOver;
    }

    /**
     * Does it.
     *
     * @param log where the log may be for a while
     * @return what is left when the writer is killed, of each moment at which that is another
     */
    List<Tree> run(Path log) throws Exception {
        scene.reset();
        CallShim.log(log);
        CallShim.watch(scene.folder());
        scene.write();
        CallShim.watch(null);
        CallShim.log(null);
        Disk disk = new Disk(scene.before(), CallLog.read(log));
        Files.delete(log);
        for (int calls = 0; calls <= disk.calls(); calls++) {
            after(disk, calls);
        }
        return killed;
    }

    private void after(Disk disk, int calls) throws IOException {
        boolean done = calls == disk.calls();
        BitSet all = disk.unsynced(calls);
        tally.count("prefixes", 1);
        open(disk, calls, new BitSet(), false, done, "nothing lost");
        open(disk, calls, all, false, done, "all lost that was not synced");
        BitSet data = new BitSet();
        all.stream().filter(disk::isData).forEach(data::set);
        open(disk, calls, data, false, done, "data lost that was not synced");
        open(disk, calls, data, true, done, "data lost that was not synced, but for sizes");
        open(disk, calls, without(all, data), false, done, "names lost that were not synced");
        for (int change : chosen(all)) {
            BitSet one = new BitSet();
            one.set(change);
            open(disk, calls, one, disk.isData(change), done, "one change lost");
            open(disk, calls, without(all, one), false, done, "all but one lost that was not synced");
        }
        for (int i = 0; i < subsets && all.cardinality() > 2; i++) {
            BitSet some = new BitSet();
            all.stream().filter(_ -> random.nextBoolean()).forEach(some::set);
            open(disk, calls, some, random.nextBoolean(), done, "some lost");
        }
    }

    /** All of a set, or as many as are to be tried alone. */
    private int[] chosen(BitSet all) {
        int[] each = all.stream().toArray();
        return each.length <= singles ? each
                : random.ints(0, each.length).distinct().limit(singles).map(i -> each[i]).toArray();
    }

    private static BitSet without(BitSet all, BitSet some) {
        BitSet rest = (BitSet) all.clone();
        rest.andNot(some);
        return rest;
    }

    private void open(Disk disk, int calls, BitSet lost, boolean sized, boolean done, String what)
            throws IOException {
        boolean killed = lost.isEmpty();
        boolean promised = done && scene.writer().promise() == Writer.Promise.LASTS;
        tally.count("states", 1);
        int changes = disk.changes(calls);
        BitSet there = disk.there(calls, lost);
        if (!seen.add(there + (sized ? " of " + changes : "") + promised)) {
            return;
        }
        Tree state = disk.after(changes, there, sized);
        if (!seen.add(state.digest() + " " + promised)) {
            return;
        }
        tally.count("different", 1);
        if (killed) {
            this.killed.add(state);
        }
        state.restore(scene.folder());
        String trial = "power cut after call " + calls + " of " + disk.calls() + ", " + what;
        String wrong = scene.check(promised);
        if (wrong != null) {
            BitSet gone = new BitSet();
            gone.set(0, changes);
            gone.andNot(there);
            tally.lose(trial, wrong + "; lost: " + disk.words(gone) + "; there was " + state.entries().keySet());
        } else if (random.nextDouble() < shareWrittenOver) {
            tally.count("written over", 1);
            tally.lose(trial, scene.again());
        }
    }
}
