// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.TokenStage.Output;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;

/** Stages on batches of fewer samples and shorter fields than there can be, and what comes of them by definition. */
final class StageExperiments {
    private final SplittableRandom random;
    private final TensorExperiments tensors;

    StageExperiments(long seed) {
        this.random = new SplittableRandom(seed);
        this.tensors = new TensorExperiments(seed + 1);
    }

    List<Experiment> all() {
        List<Experiment> all = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            all.add(tokens());
            all.add(cast());
            all.add(tensors.imageStage());
        }
        return all;
    }

    private Experiment tokens() {
        DType type = new DType[] {DType.U16, DType.U32, DType.I32, DType.U8}[random.nextInt(4)];
        DType ids = random.nextBoolean() ? DType.I64 : DType.I32;
        int most = random.nextInt(1, 9);
        int batch = random.nextInt(1, most + 1);
        int length = random.nextInt(1, 700);
        long token = random.nextInt(100);
        boolean separated = random.nextInt(3) > 0;
        boolean ends = random.nextBoolean();
        long ignore = random.nextInt(-100, 5);
        Cells tokens = Cells.random(type, (long) most * (length + 1), random);
        for (long i = 0; i < (long) most * (length + 1); i++) {
            if (random.nextInt(40) == 0) {
                tokens.set(i, token);
            }
        }
        Set<Output> outputs = EnumSet.noneOf(Output.class);
        while (outputs.isEmpty()) {
            for (Output output : Output.values()) {
                if (random.nextBoolean()) {
                    outputs.add(output);
                }
            }
        }
        TokenStage stage = TokenStage.of(ids).ignoreIndex(ignore).outputs(
                outputs.iterator().next(), outputs.toArray(new Output[0]));
        if (separated) {
            stage = stage.documents(ends ? DocumentSeparator.endsWith(token) : DocumentSeparator.startsWith(token));
        }
        var work = new StageWork(stage, batch, new TensorSpec("other", DType.U8, most),
                new TensorSpec("tokens", type, most, length + 1))
                .shape("tokens", batch, length + 1).shape("other", batch);
        var experiment = new Experiment("stage of tokens " + type + " " + ids + " " + batch + " of " + most + "x"
                + length + " " + outputs, work).input("tokens", tokens).input("other", Cells.inputs(DType.U8, most));
        for (Output output : outputs) {
            String name = output.name().toLowerCase(Locale.ROOT);
            work.expect(name, batch, length);
            Cells cells = Cells.outputs(ids, (long) most * length);
            for (int row = 0; row < batch; row++) {
                int start = 0;
                int document = 0;
                for (int t = 0; t < length; t++) {
                    long at = (long) row * (length + 1) + t;
                    if (t > 0 && separated && tokens.integer(ends ? at - 1 : at) == token) {
                        start = t;
                        document++;
                    }
                    boolean crosses = separated && tokens.integer(ends ? at : at + 1) == token;
                    cells.set((long) row * length + t, switch (output) {
                        case INPUT_IDS -> tokens.integer(at);
                        case LABELS -> crosses ? ignore : tokens.integer(at + 1);
                        case POSITION_IDS -> t - start;
                        case DOCUMENT_IDS -> document;
                    });
                }
            }
            experiment.output(StageWork.OUT + name, cells);
        }
        return experiment;
    }

    private Experiment cast() {
        DType from = DType.values()[random.nextInt(DType.values().length)];
        DType to = DType.values()[random.nextInt(DType.values().length)];
        int most = random.nextInt(1, 9);
        int longest = random.nextInt(1, 90);
        int batch = random.nextInt(1, most + 1);
        int length = random.nextInt(0, longest + 1);
        Cells source = Cells.random(from, (long) most * longest, random);
        Cells target = Cells.outputs(to, (long) most * longest);
        for (long i = 0; i < (long) batch * length; i++) {
            if (from == DType.BOOL) {
                source.set(i, source.bits(i) & 1);
            }
            target.set(i, SlowCast.cast(from, to, source.bits(i)));
        }
        return new Experiment("stage of a cast " + from + " to " + to + " " + batch + "x" + length,
                new StageWork(CastTransform.stage("values", to), batch, new TensorSpec("values", from, most, longest))
                        .shape("values", batch, length).expect("values", batch, length))
                .input("values", source).output(StageWork.OUT + "values", target);
    }
}
