// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.json.Json;
import io.penstock.sampling.BatchSampler;
import io.penstock.state.LedgerAudit;
import io.penstock.state.LoaderState;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "audit",
        sortOptions = false,
        abbreviateSynopsis = true,
        description = "Proves from the ledgers of all ranks that each sample was delivered once and in order, over"
                + " restarts, other ranks and edits; or says where not. The exit status is 1 if not.",
        footer = {"", "Example: penstock audit run/ledger --state run/state.json",
            "Example: penstock audit run/ledger out --window 1024 --seed 42", "",
            "Loaders write ledgers with --ledger or DataLoaderBuilder.ledger. With the stores and the options of the"
                + " run, also verifies which samples were delivered. With --json an object with: runs, steps,"
                + " positions, taken_back, chain, problems."})
final class AuditCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(index = "0", paramLabel = "LEDGER", description = "The folder of the ledgers of all ranks.")
    private Path folder;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "STORE", description = PlanOptions.STORES)
    private List<String> names = List.of();

    @Option(names = "--state", paramLabel = "FILE",
            description = "Also verify that the ledger ends where the state in FILE does, with the same history;"
                    + " also the folder of a checkpoint.")
    private @Nullable String state;

    @Mixin
    private SourceOptions sources;

    @Mixin
    private SampleOptions samples;

    @Mixin
    private PlanOptions plan;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new BadInputException(folder + ": found no folder, expected one of ledgers");
        }
        LedgerAudit audit;
        if (names.isEmpty()) {
            audit = LedgerAudit.of(folder, Optional.empty());
        } else {
            try (SampleSource source = sources.open(names, samples, storeOptions, plan)) {
                BatchSampler run = plan.batches(source);
                audit = LedgerAudit.of(folder, Optional.of(run));
            }
        }
        List<String> problems = new ArrayList<>(audit.problems());
        if (state != null) {
            LoaderState end = StateCommand.read(state, storeOptions.remote());
            if (!end.chain().equals(audit.chain())) {
                problems.add(state + ": the ledger does not end where this state does: it is of another run, or of"
                        + " another step of this one");
            }
        }
        if (report.isJson()) {
            report.print(Json.members("runs", (long) audit.runs(), "steps", audit.steps(), "positions",
                    audit.positions(), "taken_back", audit.takenBack(), "chain", audit.chain(), "problems", problems));
        } else {
            report.print(NumberText.count(audit.runs(), "start") + ", " + NumberText.count(audit.steps(), "step") + ", "
                    + NumberText.count(audit.positions(), "position") + " over all ranks"
                    + (audit.takenBack() == 0 ? "" : "; " + NumberText.count(audit.takenBack(), "step")
                            + " taken back by restarts") + "\n"
                    + (problems.isEmpty() ? "Each position was given once and in order.\n"
                            : String.join("\n", problems) + "\n"));
        }
        return problems.isEmpty() ? ExitCode.SUCCESS : ExitCode.FAILURE;
    }
}
