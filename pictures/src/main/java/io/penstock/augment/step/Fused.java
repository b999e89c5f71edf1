// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.ResizeFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Steps that move pixels, as one: their maps are composed, and the image is read once. Each draws as it would alone.
 * What one of them cuts off is not lost: another may turn it in again.
 *
 * @param steps the steps, in order
 * @param fill the value outside the image; below 0 if no step shows it
 */
public record Fused(List<NamedStep> steps, int fill) implements Step {

    private static final int NO_FILL = -1;
    /** A fused step without steps so far. */
    public static final Fused NONE = new Fused(List.of(), NO_FILL);

    private static final ThreadLocal<Placement> OF_THREAD = ThreadLocal.withInitial(Placement::new);

    /**
     * Adds a step to a pipeline. If that ends with fused steps, a step that moves pixels is fused with them.
     *
     * @throws IllegalArgumentException if the step moves pixels and should be fused, but cannot
     */
    public static List<NamedStep> add(List<NamedStep> pipeline, NamedStep named) {
        List<NamedStep> more = new ArrayList<>(pipeline);
        boolean moves = named.form().is(Form.Trait.GEOMETRIC) || named.step() instanceof AugMix;
        if (moves && !more.isEmpty() && more.getLast().step() instanceof Fused fused) {
            NamedStep last = more.removeLast();
            more.add(NamedStep.of(last.name(), fused.with(named)));
        } else if (moves && more.stream().anyMatch(before -> before.step() instanceof Fused)) {
            throw refused(named.step(), "it before " + more.getLast().step() + ", which moves no pixels");
        } else {
            more.add(named);
        }
        return List.copyOf(more);
    }

    private Fused with(NamedStep named) {
        int shown = fill(named.step());
        if (shown >= 0 && fill >= 0 && shown != fill) {
            throw refused(named.step(), "the fill " + fill + " of the steps before");
        }
        List<NamedStep> more = new ArrayList<>(steps);
        more.add(named);
        var fused = new Fused(List.copyOf(more), Math.max(shown, fill));
        if (fused.form().parameters().size() > MAX_PARAMETERS) {
            throw refused(named.step(), "steps of at most " + MAX_PARAMETERS + " parameters");
        }
        return fused;
    }

    /**
     * Returns the value that a step shows outside the image.
     *
     * @throws IllegalArgumentException if the step cannot be fused
     */
    private static int fill(Step step) {
        return switch (step) {
            case RandomResizedCrop _ -> NO_FILL;
            case Sometimes some when some.form().is(Form.Trait.GEOMETRIC) -> NO_FILL;
            case Resize resize when resize.filter() == ResizeFilter.BILINEAR -> NO_FILL;
            case Resize _ -> throw refused(step, "the filter BILINEAR");
            case Crop crop -> fill(step, crop.padding());
            case Pad pad -> fill(step, pad.padding());
            case Affine affine -> fill(step, affine.interpolation(), affine.fill());
            case Perspective perspective -> fill(step, perspective.interpolation(), perspective.fill());
            default -> throw refused(step, "a crop, resize, flip, pad, rotate, affine or perspective");
        };
    }

    private static int fill(Step step, Padding padding) {
        if (padding.pixels() > 0 && padding.mode() != Padding.Mode.CONSTANT) {
            throw refused(step, "a padding of the mode CONSTANT");
        }
        return padding.pixels() > 0 ? padding.fill() : NO_FILL;
    }

    private static int fill(Step step, Interpolation interpolation, int fill) {
        if (interpolation != Interpolation.BILINEAR) {
            throw refused(step, "the interpolation BILINEAR");
        }
        return fill;
    }

    private static IllegalArgumentException refused(Step step, String expected) {
        return new IllegalArgumentException("cannot fuse " + step + ", expected " + expected);
    }

    /** Lists the parameters of the fused steps. Each name starts with its step's operation and number. */
    @Override
    public Form form() {
        List<Form.Trait> traits = new ArrayList<>(List.of(Form.Trait.GEOMETRIC));
        if (steps.stream().anyMatch(named -> named.form().is(Form.Trait.SIZE))) {
            traits.add(Form.Trait.SIZE);
        }
        if (steps.stream().allMatch(named -> named.form().is(Form.Trait.FIXED))) {
            traits.add(Form.Trait.FIXED);
        }
        Form form = Form.of("fused", traits.toArray(Form.Trait[]::new));
        for (NamedStep named : steps) {
            String step = named.name().substring(named.name().lastIndexOf("." + named.form().operation()) + 1);
            for (int i = 0; i < named.form().parameters().size(); i++) {
                form = form.with(named.form().types().get(i), step + "." + named.form().parameters().get(i));
            }
        }
        return form;
    }

    @Override
    public Size check(Size image, int channels) {
        Size size = image;
        for (NamedStep named : steps) {
            size = named.step().check(size, channels);
        }
        return size;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        Placement placement = OF_THREAD.get();
        placement.begin(height, width);
        int next = at;
        for (int i = 0; i < steps.size(); i++) {
            NamedStep named = steps.get(i);
            named.draw(random, placement.height(), placement.width(), values, next);
            named.step().place(values, next, placement);
            next += named.form().parameters().size();
        }
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        int next = at;
        for (int i = 0; i < steps.size(); i++) {
            steps.get(i).step().place(values, next, placement);
            next += steps.get(i).form().parameters().size();
        }
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        throw new IllegalArgumentException("fused steps have no kernel: run them in the workers, by Augment.mapped");
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        Placement placement = OF_THREAD.get();
        placement.begin(canvas.height(), canvas.width());
        place(values, at, placement);
        double[] m = canvas.work().inverse();
        placement.invert(m);
        canvas.work().resampling().run(canvas, m, placement.height(), placement.width(), Math.max(fill, 0));
    }

    /** For example {@code fused(randomResizedCrop(…), rotate(…))}. */
    @Override
    public String toString() {
        return "fused(" + steps.stream().map(named -> named.step().toString()).collect(Collectors.joining(", ")) + ")";
    }
}
