// SPDX-License-Identifier: Apache-2.0
/**
 * What is said about the code holds: examples compile, tables and links of the documents are whole, sources have the
 * form that they should have.
 */
package io.penstock.docs;
