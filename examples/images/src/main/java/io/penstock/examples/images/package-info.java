// SPDX-License-Identifier: Apache-2.0
/** A convolutional net on DJL that trains on images from tars. */
@NullMarked
package io.penstock.examples.images;

import org.jspecify.annotations.NullMarked;
