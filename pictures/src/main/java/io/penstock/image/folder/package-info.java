// SPDX-License-Identifier: Apache-2.0
/** Image files, JPEG and PNG, as stores of one tensor. */
@NullMarked
package io.penstock.image.folder;

import org.jspecify.annotations.NullMarked;
