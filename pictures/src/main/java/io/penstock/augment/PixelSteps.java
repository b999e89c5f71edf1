// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.AugMix;
import io.penstock.augment.step.ColorJitter;
import io.penstock.augment.step.Erasing;
import io.penstock.augment.step.GaussianBlur;
import io.penstock.augment.step.GaussianNoise;
import io.penstock.augment.step.PixelOp.Kind;
import io.penstock.augment.step.Policy;
import io.penstock.augment.step.Sometimes;
import io.penstock.augment.step.ToneCurve;
import io.penstock.image.AutoAugmentPolicy;
import io.penstock.image.Interpolation;
import io.penstock.image.Range;

/**
 * The methods of {@link Augment} that add steps which change the values of pixels: colors, blur, noise, erasing, and
 * the policies that choose among such changes.
 */
abstract sealed class PixelSteps extends GeometricSteps permits Augment {

    /**
     * Changes brightness, contrast and saturation by factors drawn from {@code max(1 - x, 0)} to {@code 1 + x}, and the
     * hue by {@code -hue} to {@code hue}, in a random order. A change by 0 is left out.
     *
     * @param brightness x of the brightness, at least 0
     * @param contrast x of the contrast, at least 0
     * @param saturation x of the saturation, at least 0
     * @param hue the largest turn, as a share of the color circle: 0 to 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment colorJitter(double brightness, double contrast, double saturation, double hue) {
        return colorJitter(ColorJitter.around1(brightness), ColorJitter.around1(contrast),
                ColorJitter.around1(saturation), Range.of(-hue, hue));
    }

    /**
     * Changes brightness, contrast, saturation and hue in a random order. A change by exactly 1, or of the hue by 0, is
     * left out.
     *
     * @param brightness the factor: 0 makes black
     * @param contrast the factor: 0 makes the mean luminance of all
     * @param saturation the factor: 0 makes gray
     * @param hue the turn, as a share of the color circle: -0.5 to 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment colorJitter(Range brightness, Range contrast, Range saturation, Range hue) {
        return with(new ColorJitter(brightness, contrast, saturation, hue));
    }

    /**
     * Sets all channels to the luminance.
     *
     * @param probability of the change; torchvision's default is 0.1
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment grayscale(double probability) {
        return with(Sometimes.of("grayscale", Kind.GRAYSCALE, probability));
    }

    /**
     * Inverts all values.
     *
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment invert(double probability) {
        return with(Sometimes.of("invert", Kind.SOLARIZE, probability));
    }

    /**
     * Keeps the highest bits of all values.
     *
     * @param bits 0 to 8
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment posterize(int bits, double probability) {
        return with(Sometimes.posterize(bits, probability));
    }

    /**
     * Inverts the values from a threshold on.
     *
     * @param threshold 0 to 255
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment solarize(double threshold, double probability) {
        return with(Sometimes.solarize(threshold, probability));
    }

    /**
     * Stretches each channel's values to 0 to 255.
     *
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment autocontrast(double probability) {
        return with(Sometimes.of("autocontrast", Kind.AUTOCONTRAST, probability));
    }

    /**
     * Makes each channel's values equally frequent.
     *
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment equalize(double probability) {
        return with(Sometimes.of("equalize", Kind.EQUALIZE, probability));
    }

    /**
     * Sharpens, or smooths with a factor below 1.
     *
     * @param factor at least 0: 0 is smooth, 1 changes nothing, 2 is sharp
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment sharpness(double factor, double probability) {
        return with(Sometimes.sharpness(factor, probability));
    }

    /**
     * Raises each value, as a share of 255, to a random power: below 1 is lighter, above 1 is darker.
     *
     * @param gamma the powers, at least 0; Albumentations' default is 0.8 to 1.2
     * @param probability of the change
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment gamma(Range gamma, double probability) {
        return with(ToneCurve.gamma(gamma, probability));
    }

    /**
     * Multiplies all values by a random contrast and adds a random brightness, as Albumentations'
     * RandomBrightnessContrast does.
     *
     * @param brightness what is added, as a share of 255, from {@code -brightness} to {@code brightness}; its default
     *     is 0.2
     * @param contrast the factors are from {@code max(1 - contrast, 0)} to {@code 1 + contrast}; its default is 0.2
     * @param probability of the change; its default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment brightnessContrast(double brightness, double contrast, double probability) {
        return with(ToneCurve.line(brightness, contrast, probability));
    }

    /**
     * Smooths the image with a deviation of 0.1 to 2 pixels.
     *
     * @param size the pixels of the kernel in one direction, odd; about 10 % of the image's side is usual
     * @return a new pipeline
     * @throws IllegalArgumentException if the size is even or below 1
     */
    public Augment gaussianBlur(int size) {
        return gaussianBlur(size, GaussianBlur.SIGMA);
    }

    /**
     * Smooths the image by a normal distribution. At the edge the image is mirrored.
     *
     * @param size the pixels of the kernel in one direction, odd, and below twice the image's shorter side
     * @param sigma the standard deviation in pixels, positive
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment gaussianBlur(int size, Range sigma) {
        return with(new GaussianBlur(size, sigma));
    }

    /**
     * Adds a normally distributed number to each value of each channel.
     *
     * @param sigma the standard deviation as a share of 255, 0 to 1; torchvision's default is 0.1
     * @return a new pipeline
     * @throws IllegalArgumentException if a deviation is out of range
     */
    public Augment gaussianNoise(Range sigma) {
        return with(new GaussianNoise(sigma));
    }

    /**
     * Fills a random rectangle with black: 2 % to 33 % of the area, with a height of 0.3 to 3.3 times the width.
     *
     * @param probability of a rectangle; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment randomErasing(double probability) {
        return randomErasing(probability, Erasing.SCALE, Erasing.RATIO, 0);
    }

    /**
     * Fills a random rectangle. If ten draws do not fit into the image, nothing is filled.
     *
     * @param probability of a rectangle
     * @param scale the rectangle's area as a share of the image's
     * @param ratio its height over its width, drawn uniformly on a logarithmic scale
     * @param value what all channels become, 0 to 255
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment randomErasing(double probability, Range scale, Range ratio, int value) {
        return with(new Erasing(probability, scale, ratio, value));
    }

    /** {@return a new pipeline with RandAugment as torchvision's default has it: 2 operations of magnitude 9 of 30} */
    public Augment randAugment() {
        return randAugment(2, 9, Interpolation.NEAREST);
    }

    /**
     * Applies random operations of 14, one after the other, with a fixed magnitude and a random sign. Outside the image
     * is black.
     *
     * @param operations how many, 0 to 16
     * @param magnitude 0 to 30
     * @param interpolation how images are read
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment randAugment(int operations, int magnitude, Interpolation interpolation) {
        return with(Policy.randAugment(operations, magnitude, interpolation));
    }

    /**
     * Applies one random operation of 14 with a random magnitude and sign: TrivialAugment, with wide ranges. Outside
     * the image is black.
     *
     * @param interpolation how images are read; torchvision's default is {@link Interpolation#NEAREST}
     * @return a new pipeline
     */
    public Augment trivialAugmentWide(Interpolation interpolation) {
        return with(Policy.trivialAugmentWide(interpolation));
    }

    /**
     * Applies a random pair of operations of a learned policy. Outside the image is black.
     *
     * @param policy the pairs; torchvision's default is {@link AutoAugmentPolicy#IMAGENET}
     * @param interpolation how images are read; torchvision's default is {@link Interpolation#NEAREST}
     * @return a new pipeline
     */
    public Augment autoAugment(AutoAugmentPolicy policy, Interpolation interpolation) {
        return with(Policy.autoAugment(policy, interpolation));
    }

    /** {@return a new pipeline with AugMix as torchvision's default has it: severity 3, three chains of 1 to 3} */
    public Augment augMix() {
        return augMix(3, 3, 0, 1, Interpolation.BILINEAR);
    }

    /**
     * Mixes the image with copies of it, each changed by a chain of random operations. Outside the image is black.
     * Boxes and keypoints cannot follow.
     *
     * @param severity how great magnitudes may be, 1 to 10
     * @param chains the number of copies, 1 to 3
     * @param depth the operations of a chain, 1 to 3; 0 to draw them for each chain
     * @param alpha the parameter of the weights' distributions, positive: the image's share is Beta, the chains' are
     *     Dirichlet
     * @param interpolation how images are read
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment augMix(int severity, int chains, int depth, double alpha, Interpolation interpolation) {
        return with(new AugMix(severity, chains, depth, alpha, interpolation));
    }
}
