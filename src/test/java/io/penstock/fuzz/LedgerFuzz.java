// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.io.publish.Folder;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.Ledger;
import io.penstock.state.LedgerAudit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The ledger of a rank: an audit says what is wrong, and a loader that opens it goes on behind its last record. */
final class LedgerFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new LedgerFuzz();

    private static final String FILE = "rank-00000.ledger";
    private static final BatchSampler BATCHES = BatchSampler.of(Sampler.shuffled(100, 1), 4,
            new Shard(0, 1, TailPolicy.PAD)).withDataset("d");

    private LedgerFuzz() {
    }

    @Override
    public int maxBytes() {
        return 2 << 10;
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        Path folder = Files.createTempDirectory("penstock-ledger");
        try {
            deliver(folder);
            return List.of(Files.readAllBytes(folder.resolve(FILE)));
        } finally {
            Folder.delete(folder);
        }
    }

    private static void deliver(Path folder) throws IOException {
        try (Ledger ledger = Ledger.open(folder, BATCHES)) {
            BatchPlan plan = new BatchPlan(4);
            for (int step = 0; step < 3; step++) {
                BATCHES.plan(step, plan);
                ledger.delivered(plan);
            }
        }
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        Files.write(folder.resolve(FILE), input);
        try {
            LedgerAudit.of(folder, Optional.empty()).problems().forEach(StoreOracle::requireOneLine);
        } catch (IOException e) {
            StoreOracle.requireOneLine(e.getMessage());
        }
        deliver(folder);
        // A byte that changed within the file ends what can be read of it: then the audit says so.
        try {
            LedgerAudit audit = LedgerAudit.of(folder, Optional.empty());
            if (audit.steps() < 3 && audit.problems().isEmpty()) {
                throw new AssertionError("steps were lost without a word");
            }
        } catch (IOException e) {
            StoreOracle.requireOneLine(e.getMessage());
        }
    }
}
