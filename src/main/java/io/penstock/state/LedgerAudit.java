// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.sampling.BatchSampler;
import io.penstock.state.LedgerFile.Attempt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the ledgers of all ranks prove: that over restarts, ranks and world sizes each position was given once, in
 * order, or where not.
 *
 * <p>A run that begins again at an earlier place takes back what came after it. What is left is one line of steps. Each
 * step of it must be in the ledgers of all its ranks, with the same place and count, so the ranks' rows fill its places
 * without a gap; it must begin where the step before ended; and the chain must follow, so that the order, with all
 * edits, was the same on all ranks and for all runs.
 *
 * @param runs how often the run was started, or moved
 * @param steps the steps that count
 * @param positions the positions that they gave, over all ranks
 * @param takenBack steps that were given and taken back by a later start
 * @param problems what is wrong, one line each; at most {@value #MOST_PROBLEMS}
 * @param chain the digest after the last step, as the state of that step has it
 */
public record LedgerAudit(int runs, long steps, long positions, long takenBack, List<String> problems, String chain) {

    /** An audit ends after so many problems. */
    public static final int MOST_PROBLEMS = 100;
    /** Epochs that may have been left out. */
    private static final int MOST_EPOCHS = 4096;

    /** Copies the list. */
    public LedgerAudit {
        problems = List.copyOf(problems);
    }

    /**
     * {@return what the ledgers in a folder prove}
     *
     * @param folder the folder that the loaders of all ranks wrote to
     * @param run batches of the dataset and order, of any rank, to verify the samples as well; empty to verify places
     * @throws IOException if a file cannot be read, or is no ledger
     */
    public static LedgerAudit of(Path folder, Optional<BatchSampler> run) throws IOException {
        List<LedgerFile> files = new ArrayList<>();
        try {
            List<Path> paths;
            try (Stream<Path> all = Files.list(folder)) {
                paths = all.filter(path -> path.getFileName().toString().matches("rank-[0-9]{5,}\\.ledger")).sorted()
                        .toList();
            }
            for (Path path : paths) {
                LedgerFile file = LedgerFile.open(path);
                if (file.attempts.isEmpty() || paths.indexOf(path) != file.attempts.getFirst().rank()) {
                    file.close();
                    throw new IOException(path + ": found " + (file.attempts.isEmpty() ? "no run" : "rank "
                            + file.attempts.getFirst().rank()) + ", expected the ledger of rank " + files.size());
                }
                files.add(file);
            }
            if (files.isEmpty()) {
                throw new IOException(folder + ": found no ledger, expected files rank-00000.ledger, …");
            }
            return new Line(files, run).audit();
        } finally {
            files.forEach(LedgerFile::close);
        }
    }

    /** The steps that count, one after the other. */
    private static final class Line {

        private final List<LedgerFile> files;
        private final Optional<BatchSampler> run;
        private final Ledger.Digests digests = new Ledger.Digests();
        private final List<String> problems = new ArrayList<>();
        private long steps;
        private long positions;
        private long recorded;
        private byte[] chain = new byte[Ledger.CHAIN_BYTES];
        // Where the step before ended.
        private long epoch;
        private long place;
        private boolean epochEnded;
        private int world = 1;
        /** How many edits the run had so far. */
        private int edits;

        Line(List<LedgerFile> files, Optional<BatchSampler> run) {
            this.files = files;
            this.run = run;
        }

        LedgerAudit audit() {
            LedgerFile first = files.getFirst();
            List<Attempt> line = new ArrayList<>();
            for (Attempt attempt : first.attempts) {
                line.removeIf(attempt::beginsBy);
                line.add(attempt);
                recorded += attempt.steps();
            }
            for (LedgerFile file : files) {
                if (file.torn > 0) {
                    long steps = file.attempts.getLast().steps();
                    long bytes = file.torn;
                    if (bytes >= Ledger.RECORD_BYTES) {
                        problem(file.path + ": " + bytes + " bytes behind step " + (steps - 1) + " of the last run are"
                                + " no records: torn by a crash, or changed");
                    }
                }
            }
            files.forEach(this::compareBytes);
            Attempt begin = line.getFirst();
            epoch = begin.state().epoch();
            place = begin.place();
            chain = begin.chain().clone();
            edits = begin.state().edits().size();
            for (int i = 0; i < line.size() && problems.size() < MOST_PROBLEMS; i++) {
                audit(line.get(i), i + 1 < line.size() ? line.get(i + 1) : null);
            }
            return new LedgerAudit(first.attempts.size(), steps, positions, recorded - steps,
                    problems.subList(0, Math.min(problems.size(), MOST_PROBLEMS)), HexFormat.of().formatHex(chain));
        }

        /** Steps that were taken back and given again must have the same bytes. */
        private void compareBytes(LedgerFile file) {
            for (int i = 1; i < file.attempts.size(); i++) {
                Attempt before = file.attempts.get(i - 1);
                Attempt again = file.attempts.get(i);
                long old = 0;
                for (long step = 0; step < again.steps() && before.hasBytes() && again.hasBytes(); step++) {
                    while (old < before.steps() && isBefore(file, before, old, again, step)) {
                        old++;
                    }
                    if (old < before.steps() && file.epoch(before, old) == file.epoch(again, step)
                            && file.place(before, old) == file.place(again, step)
                            && file.rows(before, old) == file.rows(again, step)
                            && file.hasBytes(before, old) && file.hasBytes(again, step)
                            && !file.sameBytes(before, old, again, step) && problems.size() < MOST_PROBLEMS) {
                        problem("the run from epoch " + again.state().epoch() + ", position "
                                + again.state().position() + ": step " + step + ", rank " + again.rank()
                                + ": the same samples had other bytes when they were given before: the data or what"
                                + " computes them has changed");
                    }
                }
            }
        }

        private static boolean isBefore(LedgerFile file, Attempt a, long stepOfA, Attempt b, long stepOfB) {
            long epochOfA = file.epoch(a, stepOfA);
            long epochOfB = file.epoch(b, stepOfB);
            return epochOfA < epochOfB || epochOfA == epochOfB && file.place(a, stepOfA) < file.place(b, stepOfB);
        }

        private void problem(String what) {
            problems.add(what);
        }

        private boolean follows(long nextEpoch, long nextPlace) {
            return nextEpoch == epoch && nextPlace == place || epochEnded && nextEpoch > epoch && nextPlace == 0;
        }

        /**
         * Where a stream ended, the last step had surplus rows for some ranks, and no more is given twice. Behind the
         * last batch of an epoch, what an edit gives again begins at the epoch's end, whatever was surplus or dropped.
         */
        private boolean followsEnd(Attempt attempt) {
            return attempt.state().epoch() == epoch && attempt.place() > place - world
                    && (epochEnded && attempt.state().edits().size() > edits
                            || !attempt.state().lanes().isEmpty() && attempt.place() < place);
        }

        /** An edit may leave out all that is left of an epoch; without the order it is taken to have done so. */
        private boolean followsLeftOut(Attempt attempt, @Nullable BatchSampler batches) {
            return attempt.state().edits().size() > edits
                    && followsRest(attempt.state().epoch(), attempt.place(), 0, batches);
        }

        /**
         * The rest of the epoch in which a run begins may be less than a batch, and dropped. With the order it has to
         * be less than the largest step; without it, what the ranks wrote is believed.
         */
        private boolean followsDropped(Attempt attempt, long nextEpoch, long nextPlace, long rows,
                @Nullable BatchSampler batches) {
            long largest = batches == null ? rows : Math.max(rows, (long) batches.batchSize() * attempt.world());
            return attempt.dropsRest() && followsRest(nextEpoch, nextPlace, largest - 1, batches);
        }

        /** Whether a later epoch begins, and by the order each one before it had at most so many places left. */
        private boolean followsRest(long nextEpoch, long nextPlace, long most, @Nullable BatchSampler batches) {
            if (nextEpoch <= epoch || nextEpoch - epoch > MOST_EPOCHS || nextPlace != 0) {
                return false;
            }
            boolean isLeft = false;
            for (long between = epoch; batches != null && between < nextEpoch; between++) {
                isLeft |= batches.order(between).size() - (between == epoch ? place : 0) > most;
            }
            return !isLeft;
        }

        private void audit(Attempt attempt, @Nullable Attempt next) {
            String name = "the run from epoch " + attempt.state().epoch() + ", position " + attempt.state().position();
            BatchSampler batches = run.map(of -> attempt.state().resume(of)).orElse(null);
            if (!follows(attempt.state().epoch(), attempt.place()) && !followsEnd(attempt)
                    && !followsLeftOut(attempt, batches)) {
                boolean isBehind = attempt.state().epoch() > epoch
                        || attempt.state().epoch() == epoch && attempt.place() > place;
                problem(name + " of " + attempt.world() + " ranks begins at place " + attempt.place()
                        + ", expected place " + place + " of epoch " + epoch + (isBehind ? ": what lies between was not"
                        + " given" : ": what lies between was given twice"));
            } else if (!Arrays.equals(chain, attempt.chain())) {
                problem(name + ": the state that it began with is of another history than the steps before");
            }
            epoch = attempt.state().epoch();
            place = attempt.place();
            world = attempt.world();
            epochEnded = false;
            chain = attempt.chain().clone();
            edits = attempt.state().edits().size();
            long order = Ledger.Digests.order(attempt.state());
            List<@Nullable Attempt> ranks = ranks(attempt, name);
            LedgerFile file = files.getFirst();
            for (long step = 0; step < attempt.steps() && problems.size() < MOST_PROBLEMS; step++) {
                if (next != null && (file.epoch(attempt, step) > next.state().epoch()
                        || file.epoch(attempt, step) == next.state().epoch()
                                && file.place(attempt, step) >= next.place())) {
                    break;
                }
                step(attempt, ranks, step, order, name, batches);
            }
        }

        /** Returns the run of each rank; an error, once, for one that has none. */
        private List<@Nullable Attempt> ranks(Attempt attempt, String name) {
            List<@Nullable Attempt> ranks = new ArrayList<>();
            for (int rank = 0; rank < attempt.world(); rank++) {
                Attempt found = rank == 0 ? attempt : null;
                for (Attempt of : rank > 0 && rank < files.size() ? files.get(rank).attempts : List.<Attempt>of()) {
                    found = of.beginsAt(attempt) ? of : found;
                }
                if (found == null) {
                    problem(name + ": rank " + rank + " of " + attempt.world() + " has not written where it began");
                } else if (!found.state().equals(attempt.state())) {
                    problem(name + ": ranks did not agree: rank " + rank + " has " + found.state().toJson()
                            + ", rank 0 has " + attempt.state().toJson());
                }
                ranks.add(found);
            }
            return ranks;
        }

        private void step(Attempt attempt, List<@Nullable Attempt> ranks, long step, long order, String name,
                @Nullable BatchSampler batches) {
            LedgerFile file = files.getFirst();
            long ofEpoch = file.epoch(attempt, step);
            long from = file.place(attempt, step);
            int count = file.count(attempt, step);
            int[] counts = counts(ranks, step, count);
            long rows = extend(attempt, step, counts, order);
            if (!follows(ofEpoch, from)
                    && !(step == 0 && followsDropped(attempt, ofEpoch, from, rows, batches))) {
                problem(name + ": step " + step + " has place " + from + " of epoch " + ofEpoch + ", expected place "
                        + place + " of epoch " + epoch);
            }
            boolean isSum = rows == sum(counts, counts.length);
            for (int rank = 0; rank < ranks.size(); rank++) {
                Attempt of = ranks.get(rank);
                if (of == null) {
                    continue;
                }
                LedgerFile its = files.get(rank);
                String what = name + ": step " + step + ", rank " + rank;
                if (step >= of.steps()) {
                    problem(what + ": not delivered");
                } else if (its.epoch(of, step) != ofEpoch || its.place(of, step) != from
                        || its.count(of, step) != count && !isSum) {
                    problem(what + ": has " + its.count(of, step) + " rows from position " + its.position(of, step)
                            + " of epoch " + its.epoch(of, step) + ", rank 0 has " + count + " from position "
                            + file.position(attempt, step) + " of epoch " + ofEpoch);
                } else if (!its.hasChain(of, step, chain)) {
                    problem(what + ": its history differs from that of " + (rank == 0 ? "the steps before"
                            : "the other ranks"));
                } else if (its.valid(of, step) == Ledger.FAILED) {
                    problem(what + ": the batch could not be made; " + counts[rank] + " rows from position "
                            + its.position(of, step) + " were not delivered");
                } else if (batches != null && its.rows(of, step) != rows(batches, ofEpoch, from, counts, rank)) {
                    problem(what + ": has other samples than the order from position " + its.position(of, step)
                            + " on: bad samples were replaced, or the data or the order changed");
                }
            }
            steps++;
            positions += rows;
            epoch = ofEpoch;
            place = from + rows;
            epochEnded = file.isLast(attempt, step);
        }

        /** The rows of each rank in a step; of one that does not have it those of rank 0. */
        private int[] counts(List<@Nullable Attempt> ranks, long step, int count) {
            int[] counts = new int[ranks.size()];
            for (int rank = 0; rank < counts.length; rank++) {
                Attempt of = ranks.get(rank);
                counts[rank] = of == null || step >= of.steps() ? count : files.get(rank).count(of, step);
            }
            return counts;
        }

        private static long sum(int[] counts, int ranks) {
            long sum = 0;
            for (int rank = 0; rank < ranks; rank++) {
                sum += counts[rank];
            }
            return sum;
        }

        /** Extends the chain, and returns the rows of all ranks: as many on each, or their sum if rank 0 knew of it. */
        private long extend(Attempt attempt, long step, int[] counts, long order) {
            LedgerFile file = files.getFirst();
            long rows = (long) counts[0] * counts.length;
            long sum = sum(counts, counts.length);
            if (sum != rows) {
                byte[] bySum = chain.clone();
                digests.extend(bySum, file.epoch(attempt, step), file.place(attempt, step), sum, order);
                rows = file.hasChain(attempt, step, bySum) ? sum : rows;
            }
            digests.extend(chain, file.epoch(attempt, step), file.place(attempt, step), rows, order);
            return rows;
        }

        private static long rows(BatchSampler batches, long epoch, long place, int[] counts, int rank) {
            long[] samples = new long[counts[rank]];
            long[] positions = new long[counts[rank]];
            if (batches.isRankByRank()) {
                batches.rows(epoch, place + sum(counts, rank), 1, samples, positions);
            } else {
                batches.rows(epoch, place + rank, counts.length, samples, positions);
            }
            long rows = 0;
            for (int i = 0; i < samples.length; i++) {
                rows = Ledger.addRow(rows, positions[i], samples[i]);
            }
            return rows;
        }
    }
}
