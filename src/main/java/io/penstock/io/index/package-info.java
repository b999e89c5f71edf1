// SPDX-License-Identifier: Apache-2.0
/** What stores of several files share: their JSON files, and the version that all files must be of. */
@NullMarked
package io.penstock.io.index;

import org.jspecify.annotations.NullMarked;
