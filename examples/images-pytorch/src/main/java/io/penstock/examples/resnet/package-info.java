// SPDX-License-Identifier: Apache-2.0
/** A ResNet that trains on PyTorch's C++ library, on JPEG files from tars. */
@NullMarked
package io.penstock.examples.resnet;

import org.jspecify.annotations.NullMarked;
