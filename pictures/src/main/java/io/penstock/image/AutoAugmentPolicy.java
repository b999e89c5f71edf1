// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/**
 * The policies of Cubuk and others, "AutoAugment: Learning Augmentation Strategies from Data" (2019), as torchvision
 * has them: 25 pairs of operations, each with its probability and bin of 10.
 */
public enum AutoAugmentPolicy {
    /** Learned on ImageNet. */
    IMAGENET,
    /** Learned on CIFAR-10. */
    CIFAR10,
    /** Learned on SVHN, house numbers. */
    SVHN
}
