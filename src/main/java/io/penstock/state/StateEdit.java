// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.BatchSampler.PositionRange;
import io.penstock.sampling.Edit;
import io.penstock.sampling.Feedback;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * Edits a run that has begun: leaves out steps or samples, gives steps again, ends the run, changes the weights of a
 * mixture. A run that resumes from {@link #state()} has the rest of the order unchanged, and so has each later one,
 * with any number of ranks.
 *
 * {@snippet :
 * BatchSampler run = BatchSampler.of(Sampler.shuffled(dataset.size(), 42), 32,
 *         Shard.fromEnvironment(TailPolicy.EXACT));            // as the run was begun
 * LoaderState state = LoaderState.read(file);
 * state.edit(run).exciseSteps(48_200, 48_230).state().write(file);
 * }
 *
 * <p>Steps are those of the run as edits have made it so far, counted from where the batches start. Immutable: each
 * method returns a new object.
 */
public final class StateEdit {

    private final LoaderState state;
    /** The run as the program gave it. */
    private final BatchSampler run;
    /** The run with the edits so far. */
    private final BatchSampler edited;

    StateEdit(LoaderState state, BatchSampler run) {
        state.resume(run);
        this.state = state;
        this.run = run;
        this.edited = edited(state, run);
    }

    private static BatchSampler edited(LoaderState state, BatchSampler run) {
        return run.edited(state.edits()).startingAt(run.startEpoch(), run.startPosition(),
                run.startLanes());
    }

    /** {@return the state with the edits} */
    public LoaderState state() {
        return state;
    }

    private StateEdit with(List<Edit> more) {
        return with(more, state.epoch(), state.position());
    }

    private StateEdit with(List<Edit> more, long epoch, long position) {
        List<Edit> all = new ArrayList<>(state.edits());
        all.addAll(more);
        BatchSampler with = edited.edited(all);
        return new StateEdit(new LoaderState(epoch, position, state.seed(), with.sampler().fingerprint(),
                state.dataset(), state.lanes(), all, state.chain()), run);
    }

    /**
     * Leaves out steps, on every rank. What was given of them already stays given.
     *
     * @param first the first step, from 0
     * @param last the last step
     * @return the edits with this one
     * @throws IllegalArgumentException if there are no such steps
     */
    public StateEdit exciseSteps(long first, long last) {
        return with(positions(first, last).stream().<Edit>map(range -> new Edit.Excise(state.epoch(), state.position(),
                range.epoch(), range.from(), range.end())).toList());
    }

    /**
     * Leaves out samples from here on, in every epoch.
     *
     * @param first the first sample, by its index in the dataset
     * @param last the last sample
     * @return the edits with this one
     * @throws IllegalArgumentException if there are no such samples
     */
    public StateEdit exciseSamples(long first, long last) {
        long samples = run.sampler().datasetSize();
        if (first < 0 || last < first || last >= samples) {
            throw new IllegalArgumentException("samples " + first + " to " + last + ", expected some of 0 to "
                    + (samples - 1));
        }
        return with(List.of(new Edit.ExciseSamples(state.epoch(), state.position(), first, last + 1)));
    }

    /**
     * Gives steps that were given before again, here.
     *
     * @param first the first step, from 0
     * @param last the last step
     * @return the edits with this one
     * @throws IllegalArgumentException if there are no such steps, or they are of a later epoch
     */
    public StateEdit repeatSteps(long first, long last) {
        boolean isBetween = state.position() == 0;
        if (isBetween && state.epoch() == 0) {
            throw new IllegalArgumentException("steps " + first + " to " + last + " again, expected a run that has"
                    + " given some");
        }
        long epoch = isBetween ? state.epoch() - 1 : state.epoch();
        long end = edited.endOf(epoch);
        long at = isBetween ? end : state.position();
        List<Edit> repeats = new ArrayList<>();
        for (PositionRange range : positions(first, last)) {
            repeats.add(new Edit.Repeat(epoch, at, range.epoch(), range.from(), range.end()));
            at += isBetween ? range.end() - range.from() : 0;
        }
        return with(repeats, epoch, end);
    }

    /**
     * Ends the run before a step, instead of where an earlier edit ends it.
     *
     * @param step the first step that is not given
     * @return the edits with this one
     */
    public StateEdit untilStep(long step) {
        if (step < 1) {
            throw new IllegalArgumentException("step " + step + ", expected 1 or later");
        }
        BatchSampler endless = withoutEnd();
        LoaderState end = LoaderState.after(endless, step - 1);
        return with(List.of(new Edit.Until(state.epoch(), state.position(), end.epoch(), end.position())));
    }

    /** Steps are counted on behind an end that is moved. */
    private BatchSampler withoutEnd() {
        List<Edit> others = state.edits().stream().filter(edit -> !(edit instanceof Edit.Until)).toList();
        return run.edited(others).startingAt(run.startEpoch(), run.startPosition(), run.startLanes());
    }

    /**
     * Gives a mixture other weights from here on, in place of those of all its phases. Each source continues where it
     * is. To add a source, add it at the end of the mixture with weight 0 and give it a weight here; to take one away,
     * give it weight 0.
     *
     * @param weights one for each source
     * @return the edits with this one
     * @throws IllegalArgumentException if the order is not a mixture of so many sources
     */
    public StateEdit weights(double... weights) {
        return reweighed(DoubleStream.of(weights).boxed().toList(), false);
    }

    /**
     * Lets a rule change the weights of a mixture by numbers that the trainer reports.
     *
     * @param rule the rule, the same on every rank
     * @param weights the weights so far
     * @param reported a number for each source, the same on every rank
     * @return the edits with this one
     */
    public StateEdit feedback(Feedback rule, double[] weights, double... reported) {
        return reweighed(rule.wholeWeights(weights, reported), true);
    }

    private StateEdit reweighed(List<Double> weights, boolean isFeedback) {
        PositionRange draw = edited.drawFrom(state.epoch(), state.position(), state.lanes());
        return with(List.of(new Edit.Reweigh(draw.epoch(), draw.from(), weights, isFeedback)));
    }

    private List<PositionRange> positions(long first, long last) {
        if (first < 0 || last < first) {
            throw new IllegalArgumentException("steps " + first + " to " + last + ", expected at least one, from 0");
        }
        try {
            return edited.positionsOf(first, last);
        } catch (IndexOutOfBoundsException e) {
            throw new IllegalArgumentException("steps " + first + " to " + last + ": " + e.getMessage(), e);
        }
    }
}
