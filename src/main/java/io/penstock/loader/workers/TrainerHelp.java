package io.penstock.loader.workers;

import io.penstock.collate.CausalLm;
import io.penstock.collate.Collator;
import io.penstock.collate.PackedLm;
import io.penstock.collate.Pad;
import io.penstock.collate.Stack;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.DocumentWindows;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.loader.slots.Meanwhile;
import io.penstock.loader.slots.Run;
import io.penstock.loader.slots.SlotRing;
import io.penstock.loader.slots.SpinGate;
import io.penstock.sampling.Sampler;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lets the trainer's thread fill slots while the batch that it waits for is being made: it would stay awake anyway, on
 * a processor that a worker may lack. Of the trainer's thread.
 *
 * <p>It helps only while batches are made in less time than it would stay awake for, so that what it waits for is late
 * by no more than that; and only where nothing but this engine's code fills: users' maps, decoders and collators run on
 * workers. Whatever it fills is a sequence that it has claimed like any worker, and whose slot is free: it never waits
 * for a slot, nor for itself.
 */
public final class TrainerHelp implements Meanwhile {

    /** The longest that a batch may take to fill. */
    static final long MOST_NANOS = SpinGate.TRAINER_AWAKE_NANOS;

    private final SlotRing ring;
    /** Fills on the trainer's thread; null if that never helps. */
    private final @Nullable Worker worker;
    /** What the trainer's thread, which alone writes it, has spent on filling so far. */
    private final AtomicLong filledNanos = new AtomicLong();
    /** What a batch takes to fill: the longest time of late, of which an eighth is forgotten with every batch. */
    private long expectedNanos = 4 * MOST_NANOS;

    public TrainerHelp(SlotRing ring, @Nullable Worker worker) {
        this.ring = ring;
        this.worker = worker;
    }

    /** Whether all code that fills a batch is this engine's own. */
    public static boolean isAllowed(Dataset dataset, Collator collator, Sampler sampler) {
        boolean ownCollator = switch (collator) {
            case CausalLm _, PackedLm _, Pad _, Stack _, StackAndPad _ -> true;
            default -> false;
        };
        boolean ownDataset = switch (dataset) {
            case TokenWindows _, DocumentWindows _, Documents _ -> true;
            case TensorRows tensors -> IntStream.range(0, tensors.fields().size())
                    .allMatch(field -> tensors.source(field).rows() != null);        // not in chunks to decode
            default -> false;
        };
        return ownCollator && ownDataset && sampler.getClass().getPackage() == Sampler.class.getPackage();
    }

    /** What the trainer's thread has spent on filling so far, in nanoseconds. Asked by any thread. */
    public long filledNanos() {
        return filledNanos.getOpaque();
    }

    @Override
    public void learn(long fillNanos) {
        expectedNanos = Math.max(fillNanos, expectedNanos - (expectedNanos >> 3));
    }

    @Override
    public boolean fillOne(Run run) {
        if (worker == null || expectedNanos > MOST_NANOS) {
            return false;
        }
        for (long next = run.nextToClaim(); ring.slot(next).isFreeFor(next); next = run.nextToClaim()) {
            if (run.claim(next)) {
                filledNanos.setOpaque(filledNanos.getPlain() + worker.help(next));
                return true;
            }
            if (!run.isOpenAt(next)) {
                return false;
            }
        }
        return false;
    }
}
