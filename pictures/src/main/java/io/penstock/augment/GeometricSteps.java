// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.Affine;
import io.penstock.augment.step.Crop;
import io.penstock.augment.step.Fused;
import io.penstock.augment.step.Pad;
import io.penstock.augment.step.Perspective;
import io.penstock.augment.step.PixelOp.Kind;
import io.penstock.augment.step.RandomResizedCrop;
import io.penstock.augment.step.Resize;
import io.penstock.augment.step.Size;
import io.penstock.augment.step.Sometimes;
import io.penstock.augment.step.Step;
import io.penstock.image.AffineRanges;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.ResizeFilter;

/** The methods of {@link Augment} that add steps which move pixels. */
abstract sealed class GeometricSteps permits PixelSteps {

    /** Returns a pipeline with one step more. */
    abstract Augment with(Step step);

    /**
     * Fuses the steps that follow, as long as they move pixels: crops, resizes, flips, pads, rotations, affine and
     * perspective maps, all of them bilinear. Their maps are composed, and the image is read once, with antialiasing:
     * sharper and faster than step by step, and another result. Only the image's own edge is a border: what a crop cuts
     * off is seen again where a later step turns it in. Each step draws as it would alone. The steps behind them work
     * as always.
     *
     * @return a new pipeline. Its methods throw an {@link IllegalArgumentException} for a step that moves pixels and
     *     cannot be fused, such as a policy
     */
    public Augment fused() {
        return with(Fused.NONE);
    }

    /**
     * Scales the shorter side to a size and keeps the aspect ratio: bilinear with antialiasing, with Pillow's bits.
     *
     * @param shorterSide in pixels; the longer side is rounded down
     * @return a new pipeline
     * @throws IllegalArgumentException if the size is below 1
     */
    public Augment resize(int shorterSide) {
        return resize(shorterSide, ResizeFilter.BILINEAR);
    }

    /**
     * Scales the shorter side to a size and keeps the aspect ratio.
     *
     * @param shorterSide in pixels; the longer side is rounded down
     * @param filter how pixels are weighed
     * @return a new pipeline
     * @throws IllegalArgumentException if the size is below 1
     */
    public Augment resize(int shorterSide, ResizeFilter filter) {
        return with(Resize.shorterSide(shorterSide, filter));
    }

    /**
     * Resizes to a size: bilinear with antialiasing, with Pillow's bits.
     *
     * @param height in pixels
     * @param width in pixels
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment resize(int height, int width) {
        return resize(height, width, ResizeFilter.BILINEAR);
    }

    /**
     * Resizes to a size.
     *
     * @param height in pixels
     * @param width in pixels
     * @param filter how pixels are weighed
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment resize(int height, int width, ResizeFilter filter) {
        return with(Resize.to(new Size(height, width), filter));
    }

    /**
     * Adds a border.
     *
     * @param padding the border
     * @return a new pipeline
     */
    public Augment pad(Padding padding) {
        return with(new Pad(padding));
    }

    /**
     * Crops the middle. If the margins cannot be equal, half a pixel is rounded to even.
     *
     * @param height in pixels, at most the image's
     * @param width in pixels, at most the image's
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment centerCrop(int height, int width) {
        return with(new Crop(Crop.Place.CENTER, new Size(height, width), Padding.NONE));
    }

    /**
     * Crops at a random place.
     *
     * @param height in pixels, at most the image's
     * @param width in pixels, at most the image's
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment randomCrop(int height, int width) {
        return randomCrop(height, width, Padding.NONE);
    }

    /**
     * Crops the padded image at a random place.
     *
     * @param height in pixels, at most the padded image's
     * @param width in pixels, at most the padded image's
     * @param padding the border
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment randomCrop(int height, int width, Padding padding) {
        return with(new Crop(Crop.Place.RANDOM, new Size(height, width), padding));
    }

    /**
     * Crops 8 % to 100 % of the area, with an aspect ratio of 3/4 to 4/3, at a random place, and resizes that.
     *
     * @param height of the result
     * @param width of the result
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment randomResizedCrop(int height, int width) {
        return randomResizedCrop(height, width, RandomResizedCrop.SCALE, RandomResizedCrop.RATIO);
    }

    /**
     * Crops a random part and resizes it: bilinear with antialiasing, with Pillow's bits. The part's own edge is the
     * border: no pixel outside it counts. If ten draws do not fit into the image, the part is the largest in its middle
     * with the nearest allowed ratio.
     *
     * @param height of the result
     * @param width of the result
     * @param scale the part's area as a share of the image's
     * @param ratio the part's width over its height, drawn uniformly on a logarithmic scale
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1, or a range has a number that is not positive
     */
    public Augment randomResizedCrop(int height, int width, Range scale, Range ratio) {
        return with(new RandomResizedCrop(new Size(height, width), scale, ratio));
    }

    /**
     * Mirrors left and right.
     *
     * @param probability of the flip
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment horizontalFlip(double probability) {
        return with(Sometimes.of("horizontalFlip", Kind.FLIP_HORIZONTALLY, probability));
    }

    /**
     * Mirrors top and bottom.
     *
     * @param probability of the flip
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment verticalFlip(double probability) {
        return with(Sometimes.of("verticalFlip", Kind.FLIP_VERTICALLY, probability));
    }

    /**
     * Rotates about the middle; the size stays.
     *
     * @param degrees the largest angle, clockwise or counterclockwise; at least 0
     * @param interpolation how the image is read; torchvision's default is {@link Interpolation#NEAREST}
     * @param fill the value of all channels outside the image, 0 to 255
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment rotate(double degrees, Interpolation interpolation, int fill) {
        return with(new Affine(Affine.Kind.ROTATE, AffineRanges.degrees(degrees), interpolation, fill));
    }

    /**
     * Rotates, shifts, scales and shears about the middle; the size stays.
     *
     * @param ranges what the transform is drawn from
     * @param interpolation how the image is read; torchvision's default is {@link Interpolation#NEAREST}
     * @param fill the value of all channels outside the image, 0 to 255
     * @return a new pipeline
     * @throws IllegalArgumentException if the fill is out of range
     */
    public Augment affine(AffineRanges ranges, Interpolation interpolation, int fill) {
        return with(new Affine(Affine.Kind.AFFINE, ranges, interpolation, fill));
    }

    /**
     * Moves the four corners inwards, each by a random number of whole pixels. Outside the image is black.
     *
     * @param distortion the largest move, as a share of half a side: 0 to 1; torchvision's default is 0.5
     * @param probability of a move; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment perspective(double distortion, double probability) {
        return perspective(distortion, probability, Interpolation.BILINEAR, 0);
    }

    /**
     * Moves the four corners inwards, each by a random number of whole pixels.
     *
     * @param distortion the largest move, as a share of half a side: 0 to 1
     * @param probability of a move
     * @param interpolation how the image is read; torchvision's default is {@link Interpolation#BILINEAR}
     * @param fill the value of all channels outside the image, 0 to 255
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment perspective(double distortion, double probability, Interpolation interpolation, int fill) {
        return with(new Perspective(distortion, probability, interpolation, fill));
    }
}
