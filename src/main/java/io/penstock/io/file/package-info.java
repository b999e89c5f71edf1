// SPDX-License-Identifier: Apache-2.0
/** Local files: opened only if they are regular, named within their folder, and found while a writer moves them. */
@NullMarked
package io.penstock.io.file;

import org.jspecify.annotations.NullMarked;
