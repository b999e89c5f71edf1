// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.sampling.BatchSampler;
import io.penstock.state.LoaderState;
import io.penstock.state.StateEdit;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Edits of a run: what is left out or given again, where it ends, other weights. They become part of its state. */
final class EditOptions {

    @Option(names = "--excise", split = ",", paramLabel = "STEPS",
            description = "Leave out steps, for example 48200..48230: counted as 'explain --step' does without"
                    + " --state.")
    private List<String> steps = List.of();

    @Option(names = "--excise-samples", split = ",", paramLabel = "SAMPLES",
            description = "Leave out samples from here on, for example 17,100..199, by their indices in the store; of"
                    + " a stream, records by their numbers.")
    private List<String> samples = List.of();

    @Option(names = "--excise-documents", split = ",", paramLabel = "DOCUMENTS",
            description = "Leave out the samples that hold these documents, for example 3,10..12, with --documents or"
                    + " --pack.")
    private List<String> documents = List.of();

    @Option(names = "--excise-file", paramLabel = "NAME",
            description = "Leave out the samples whose names begin with NAME, such as those of a file.")
    private List<String> files = List.of();

    @Option(names = "--repeat", split = ",", paramLabel = "STEPS",
            description = "Give steps that were given before again, here, for example 47000..47999.")
    private List<String> repeats = List.of();

    @Option(names = "--until", paramLabel = "STEP", description = "End the run before step STEP.")
    private @Nullable Long until;

    @Option(names = "--reweigh", split = ",", paramLabel = "W",
            description = "Give the stores of a mixture these weights from here on; 0 takes one away.")
    private List<Double> weights = List.of();

    @Option(names = "--add-stores",
            description = "Accept the state of a mixture without the last stores, which have weight 0 in --weights.")
    private boolean addStores;

    boolean isGiven() {
        return addStores || !steps.isEmpty() || !samples.isEmpty() || !documents.isEmpty() || !files.isEmpty()
                || !repeats.isEmpty() || until != null || !weights.isEmpty();
    }

    /**
     * A state with the edits.
     *
     * @param run the batches from where steps are counted
     */
    LoaderState applied(LoaderState state, BatchSampler run, SampleSource source) {
        if (source.dataset().arrivals().isPresent() && (addStores || !documents.isEmpty() || !files.isEmpty())) {
            throw new UsageException("--excise-documents, --excise-file and --add-stores: found one of them with"
                    + " --source, expected stores; leave out records of a stream with --excise-samples, by their"
                    + " numbers");
        }
        LoaderState from = addStores ? state.extended(run) : state;
        return UsageException.valid(() -> {
            StateEdit edit = from.edit(run);
            // Steps first: they are those of the run as it was.
            for (String range : repeats) {
                long[] ends = range("--repeat", range);
                edit = edit.repeatSteps(ends[0], ends[1]);
            }
            if (until != null) {
                edit = edit.untilStep(until);
            }
            long[][] cut = steps.stream().map(range -> range("--excise", range))
                    .sorted((a, b) -> Long.compare(b[0], a[0])).toArray(long[][]::new);
            for (long[] ends : cut) {                   // the last ones first: the others keep their numbers
                edit = edit.exciseSteps(ends[0], ends[1]);
            }
            for (String range : samples) {
                long[] ends = range("--excise-samples", range);
                edit = edit.exciseSamples(ends[0], ends[1]);
            }
            for (String range : documents) {
                long[] ends = range("--excise-documents", range);
                edit = excise(edit, "--excise-documents " + range, source.dataset().size(),
                        holding(source.dataset(), ends[0], ends[1]));
            }
            for (String name : files) {
                edit = excise(edit, "--excise-file " + name, source.dataset().size(),
                        sample -> source.dataset().name(sample).startsWith(name));
            }
            if (!weights.isEmpty()) {
                edit = edit.weights(weights.stream().mapToDouble(weight -> weight).toArray());
            }
            return edit.state();
        });
    }

    private static StateEdit excise(StateEdit edit, String what, long size, LongPredicate isCut) {
        StateEdit all = edit;
        long first = -1;
        boolean isAny = false;
        for (long sample = 0; sample <= size; sample++) {
            boolean cut = sample < size && isCut.test(sample);
            if (cut && first < 0) {
                first = sample;
            } else if (!cut && first >= 0) {
                all = all.exciseSamples(first, sample - 1);
                first = -1;
                isAny = true;
            }
        }
        if (!isAny) {
            throw new IllegalArgumentException(what + ": found no such sample");
        }
        return all;
    }

    private static LongPredicate holding(Dataset dataset, long first, long last) {
        return switch (dataset) {
            case Documents _ -> sample -> sample >= first && sample <= last;
            case PackedSequences packed -> sample -> {
                for (int part = 0; part < packed.parts(sample); part++) {
                    long document = packed.document(sample, part);
                    if (document >= first && document <= last) {
                        return true;
                    }
                }
                return false;
            };
            default -> throw new IllegalArgumentException("--excise-documents: found samples that are no documents,"
                    + " expected --documents or --pack of one store; leave out windows with --excise-samples");
        };
    }

    private static long[] range(String option, String text) {
        String[] ends = text.split("\\.\\.", -1);
        try {
            long first = Long.parseLong(ends[0].strip());
            return new long[] {first, ends.length == 2 ? Long.parseLong(ends[1].strip()) : one(ends, first)};
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(option + ": found " + text + ", expected a number, or two as in 10..19",
                    e);
        }
    }

    private static long one(String[] ends, long first) {
        if (ends.length > 2) {
            throw new NumberFormatException();
        }
        return first;
    }
}
