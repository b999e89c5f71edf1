// SPDX-License-Identifier: Apache-2.0
/** Stores of several files: reads their JSON indexes, and checks that all files are of one version. */
@NullMarked
package io.penstock.io.index;

import org.jspecify.annotations.NullMarked;
