// SPDX-License-Identifier: Apache-2.0
/**
 * Steps of sound: {@link io.penstock.media.sound.SoundSteps} makes spectrograms of samples, in the workers. The
 * arithmetic is {@code f32} in a fixed order, without fused multiply-adds, so results do not depend on the machine.
 */
@NullMarked
package io.penstock.media.sound;

import org.jspecify.annotations.NullMarked;
